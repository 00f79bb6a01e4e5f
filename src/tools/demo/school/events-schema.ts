import { buildSchema } from 'graphql';

/** The schema of the events service. `internalAudit` stands for the internal fields that real schemas contain. */
export const eventsSchema = buildSchema(`
  "An instant in ISO 8601, UTC."
  scalar DateTime

  type Query {
    "Members in the order of the ids given; null for everyone but the calling member."
    membersByIds(ids: [ID!]!): [Member]!
    events(first: Int = 20, after: String): EventConnection!
    event(id: ID!): Event
    "For the office. Not part of the public service."
    internalAudit: String
  }

  type Mutation {
    "Gives up a place: the calling member's own."
    cancelRegistration(registrationId: ID!): CancelRegistrationResult
    "For the office."
    deleteMember(id: ID!): Boolean
  }

  type CancelRegistrationResult { registration: EventRegistration! }

  enum EventTime { ANY UPCOMING PAST }

  type Member {
    id: ID!
    eventRegistrations(first: Int = 20, after: String, when: EventTime! = ANY): EventRegistrationConnection!
  }

  enum EventRegistrationStatus { REQUESTED REGISTERED WAITLISTED CANCELLED }
  enum AttendanceMode { ONLINE OFFLINE MIXED }

  type EventRegistration {
    id: ID!
    status: EventRegistrationStatus!
    registeredAt: DateTime!
    cancelledAt: DateTime
    checkedInAt: DateTime
    seats: Int!
    event: Event!
  }

  type Event {
    id: ID!
    slug: String!
    title: String!
    startsAt: DateTime!
    endsAt: DateTime!
    timeZone: String!
    attendanceMode: AttendanceMode!
    venue: EventVenue
    "Only for those who have a place."
    joinUrl: String
  }

  type EventVenue { name: String! address: String! city: String! countryCode: String! }

  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }

  type EventConnection { nodes: [Event!]! edges: [EventEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type EventEdge { cursor: String! node: Event! }

  type EventRegistrationConnection {
    nodes: [EventRegistration!]!
    edges: [EventRegistrationEdge!]!
    pageInfo: PageInfo!
    totalCount: Int!
  }
  type EventRegistrationEdge { cursor: String! node: EventRegistration! }
`);
