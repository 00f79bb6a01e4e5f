/** The schema that clients see: mapped to REST and GraphQL upstreams in one, and served by the monolith in the other. */
export const CONTRACT = `
scalar DateTime
type Query { viewer: Viewer! }
type Viewer {
  id: ID!
  email: String
  courses(first: Int = 3, after: String): CourseConnection
  registrations(first: Int = 4, offset: Int! = 0, only: [Status!], filter: Filter): RegistrationConnection
  next(kind: Kind = ANY): Happening
  agenda(first: Int = 5): [Happening!]
  badges: Int
  streak: Int
  missing: RegistrationConnection
}
type CourseConnection { nodes: [Course!]! edges: [CourseEdge!]! pageInfo: PageInfo! totalCount: Int }
type CourseEdge { cursor: String! node: Course! }
type Course { slug: String! hours: Int! progress: Progress }
type Progress { lecture: ID! seconds: Int! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type RegistrationConnection { nodes: [Registration!]! items: [Registration] pageInfo: PageInfo! totalCount: Int }
type Registration { id: ID! status: Status! note(length: Int = 4, upper: Boolean! = false): String happening: Happening course: CourseHint }
type CourseHint { slug: String! }
enum Status { CONFIRMED CANCELED WAITLISTED UNKNOWN }
enum Kind { ANY TALK OUTING }
input Filter { status: Status = CONFIRMED not: Boolean! = false after: DateTime }
interface Happening { id: ID! title: String! startsAt: DateTime }
type Talk implements Happening { id: ID! title: String! startsAt: DateTime speaker: Speaker! guests(first: Int = 2): [Speaker!]! }
type Outing implements Happening { id: ID! title: String! startsAt: DateTime seats: Int! party: [Guest] }
type Speaker { id: ID! name: String talks(first: Int = 1): [Talk!] }
union Guest = Speaker | Outing
`;

/** The GraphQL upstream: other names, possibly unknown members, non-null fields, and more fields than are mapped. */
export const UPSTREAM = `
scalar Instant
type Query { people(ids: [ID!]!): [Person]! me: Person! streakOf(person: ID!): Int! secret: String }
type Mutation { drop(id: ID!): Boolean }
type Person {
  id: ID!
  passwordHash: String
  signups(take: Int = 50, offset: Int! = 0, only: [State!], where: SignupFilter): SignupPage!
  next(kind: Kind = ANY): Occasion
  agenda(first: Int = 50): [Occasion!]
  badgeCount: Int!
  gone: SignupPage
}
type SignupPage { nodes: [Signup!]! items: [Signup] pageInfo: Window! count: Int internal: String }
type Window { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type Signup { id: ID! state: State! note(length: Int = 1, upper: Boolean! = true): String occasion: Occasion audit: String }
enum State { REGISTERED CANCELLED WAITLISTED LOST }
enum Kind { ANY TALK OUTING }
input SignupFilter { state: State = LOST not: Boolean! = true after: Instant }
interface Occasion { id: ID! title: String! begins: Instant }
type Lecture implements Occasion { id: ID! title: String! begins: Instant speaker: Speaker! guests(first: Int = 9): [Speaker!]! }
type Outing implements Occasion { id: ID! title: String! begins: Instant seats: Int! party: [Companion] }
type Speaker { id: ID! name: String talks(first: Int = 9): [Lecture!] email: String }
union Companion = Speaker | Outing
`;

export const MAPPING = `
extend schema
  @source(name: "people", graphql: { path: "/graphql" })
  @source(name: "courses")
extend type Viewer {
  email: String @connect(source: "courses", http: { GET: "/members/{$context.sub}" }, selection: "$.email")
  courses: CourseConnection
    @connect(
      source: "courses"
      http: { GET: "/members/{$context.sub}/courses", queryParams: "page: $page.number  size: $page.size" }
      selection: "slug hours"
    )
    @connection(style: PAGE, pageSize: 10, nodes: "$.rows", next: "$.next", total: "$.total")
  registrations: RegistrationConnection
    @graphql(
      source: "people", root: "people", member: "ids", name: "signups"
      arguments: [{ name: "first", as: "take" }, { name: "filter", as: "where" }]
    )
  next: Happening @graphql(source: "people", root: "people", member: "ids")
  agenda: [Happening!] @graphql(source: "people", root: "me")
  badges: Int @graphql(source: "people", root: "people", member: "ids", name: "badgeCount")
  streak: Int @graphql(source: "people", name: "streakOf", member: "person")
  missing: RegistrationConnection @graphql(source: "people", root: "people", member: "ids", name: "gone")
}
extend type Course
  @connect(
    source: "courses"
    batch: { maxSize: 5 }
    http: { GET: "/progress", queryParams: "member: $context.sub  slugs: $batch.slug->joinNotNull(',')" }
    selection: "$.rows { slug  progress: progress { lecture seconds } }"
  )
extend type RegistrationConnection { totalCount: Int @upstreamName(source: "people", name: "count") }
extend type Registration {
  status: Status! @upstreamName(source: "people", name: "state")
  happening: Happening @upstreamName(source: "people", name: "occasion")
  course: CourseHint
    @connect(source: "courses", http: { GET: "/hints/{$this.id}" }, selection: "slug: $.slug")
}
extend enum Status {
  CONFIRMED @upstreamName(source: "people", name: "REGISTERED")
  CANCELED @upstreamName(source: "people", name: "CANCELLED")
}
extend input Filter { status: Status @upstreamName(source: "people", name: "state") }
extend type Talk @upstreamName(source: "people", name: "Lecture") {
  startsAt: DateTime @upstreamName(source: "people", name: "begins")
}
extend type Outing { startsAt: DateTime @upstreamName(source: "people", name: "begins") }
`;
