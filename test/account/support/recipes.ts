/** A page of the reference about one task: a mapping, the upstream's responses, and what a client gets. A test runs it. */
export interface Recipe {
  readonly about: string;
  readonly text: string;
  /** The types of the contract besides Query. */
  readonly contract: string;
  readonly mapping: string;
  /** By path and query: JSON, sent with the status 200, or 404 for `undefined`. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly query: string;
  readonly gives: unknown;
}

const PAGE_INFO = 'type PageInfo { hasNextPage: Boolean! endCursor: String }';

export const RECIPES: readonly Recipe[] = [
  {
    about: 'A service says "none" with a 404',
    text: `A 404 to a read is already null, or an empty list. Where \`isSuccess\` decides, as in an envelope whose own status is always 200,
let it accept the 404, and give the list for it.`,
    contract: `type Viewer { id: ID!  courses(first: Int = 20, after: String): CourseConnection }
type CourseConnection { nodes: [Course!]! pageInfo: PageInfo! totalCount: Int }
type Course { slug: String! }
${PAGE_INFO}`,
    mapping: `extend schema @source(name: "school", isSuccess: "$.status->in([200, 404])")

extend type Viewer {
  courses: CourseConnection
    @connect(
      source: "school"
      http: { GET: "/courses", queryParams: "page: $page.number  per_page: $page.size  _envelope: $(1)" }
      selection: "slug"
    )
    @connection(style: PAGE, pageSize: 50, nodes: "$.status->match([404, []], [@, $.body])")
}`,
    answers: { '/courses?page=1&per_page=50&_envelope=1': { status: 404, body: { code: 'no_courses' } } },
    query: '{ viewer { courses { nodes { slug } pageInfo { hasNextPage } } } }',
    gives: { viewer: { courses: { nodes: [], pageInfo: { hasNextPage: false } } } },
  },
  {
    about: 'A list has items that do not belong in it',
    text: `\`filter\` leaves them out. Cursors and \`hasNextPage\` are about the items that stay. \`totalCount\` counts them, which reads every page,
within \`account.limits.upstreamCalls\`. Do not filter in \`nodes\`: a page that is short looks like the last one.`,
    contract: `type Viewer { id: ID!  courses(first: Int = 20, after: String): CourseConnection }
type CourseConnection { nodes: [Course!]! pageInfo: PageInfo! totalCount: Int }
type Course { slug: String! }
${PAGE_INFO}`,
    mapping: `extend schema @source(name: "school")

extend type Viewer {
  courses: CourseConnection
    @connect(
      source: "school"
      http: { GET: "/enrolments", queryParams: "page: $page.number  per_page: $page.size" }
      selection: "slug"
    )
    @connection(
      style: PAGE
      pageSize: 10
      nodes: "$.data"
      filter: "@.kind->eq('course')->and(@.user->eq($context.sub))"
      total: "$.total"
    )
}`,
    answers: {
      '/enrolments?page=1&per_page=10': {
        data: [
          { slug: 'knots', kind: 'course', user: 'm-1001' },
          { slug: 'gold', kind: 'membership', user: 'm-1001' },
          { slug: 'secret', kind: 'course', user: 'm-2' },
        ],
        total: 3,
      },
    },
    query: '{ viewer { courses(first: 1) { nodes { slug } pageInfo { hasNextPage } totalCount } } }',
    gives: { viewer: { courses: { nodes: [{ slug: 'knots' }], pageInfo: { hasNextPage: false }, totalCount: 1 } } },
  },
  {
    about: 'A list has only ids, and the service takes one at a time',
    text: `A name that begins with \`_\` is for the mapping alone: \`$this\` and \`$batch\` have it, the contract need not. A batch with \`maxSize: 1\`
calls the service once for each object, within \`account.limits.upstreamCalls\`. With \`required: true\`, its fields may be non-null:
the connection leaves out objects that the service does not know, and fails when the service fails.`,
    contract: `type Viewer { id: ID!  courses(first: Int = 20, after: String): CourseConnection }
type CourseConnection { nodes: [Course!]! pageInfo: PageInfo! totalCount: Int }
type Course { slug: String!  title: String }
${PAGE_INFO}`,
    mapping: `extend schema @source(name: "school")

extend type Viewer {
  courses: CourseConnection
    @connect(source: "school", http: { GET: "/enrolments" }, selection: "_id: course_id")
    @connection(style: ALL, nodes: "$")
}

extend type Course
  @connect(
    source: "school"
    batch: { maxSize: 1, required: true }
    http: { GET: "/courses/{$batch._id->first}" }
    selection: "slug  title: title->decode('html')"
  )`,
    answers: {
      '/enrolments': [{ course_id: 7 }, { course_id: 8 }, { course_id: 9 }],
      '/courses/7': { slug: 'knots', title: 'Bob&#8217;s knots' },
      '/courses/8': undefined,
      '/courses/9': { slug: 'sails', title: 'Sails &amp; masts' },
    },
    query: '{ viewer { courses { nodes { slug title } } } }',
    gives: {
      viewer: {
        courses: {
          nodes: [
            { slug: 'knots', title: 'Bob’s knots' },
            { slug: 'sails', title: 'Sails & masts' },
          ],
        },
      },
    },
  },
  {
    about: 'One value out of several calls',
    text: `\`each\` calls the service once for each item of a list, and the selection gets the list of the responses: here the last lesson
seen. A 404 is null in that list. If any other call fails, the field fails.`,
    contract: `type Viewer { id: ID!  courses: [Course!] }
type Course { slug: String!  lastLesson: Lesson }
type Lesson { id: ID!  seenAt: DateTime }
scalar DateTime`,
    mapping: `extend schema @source(name: "school")

extend type Viewer {
  courses: [Course!]
    @connect(source: "school", http: { GET: "/courses" }, selection: "$ { slug  _lessons: lessons.id }")
}

extend type Course {
  lastLesson: Lesson
    @connect(
      source: "school"
      each: "$this._lessons"
      http: { GET: "/progress/{$each}" }
      selection: """
      $->maxBy(@.seen) { id: lesson  seenAt: seen->toDateTime("sql", "America/New_York") }
      """
    )
}`,
    answers: {
      '/courses': [{ slug: 'knots', lessons: [{ id: 1 }, { id: 2 }, { id: 3 }] }],
      '/progress/1': { lesson: 1, seen: '2026-07-01 09:30:00' },
      '/progress/2': { lesson: 2, seen: '2026-07-02 20:00:00' },
      '/progress/3': undefined,
    },
    query: '{ viewer { courses { slug lastLesson { id seenAt } } } }',
    gives: { viewer: { courses: [{ slug: 'knots', lastLesson: { id: '2', seenAt: '2026-07-03T00:00:00Z' } }] } },
  },
];
