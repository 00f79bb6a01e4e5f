import { GraphQLError } from 'graphql';
import type { Registration, SchoolData } from './data/school-data.ts';

const MOST_IDS = 100;
const LARGEST_SLICE = 100;

/** The requested part of a list. */
interface Slice {
  readonly first: number | null;
  readonly after?: string | null;
}

/** The values of the events service's root fields, for one member or, without `memberId`, for anyone. */
export function eventsRoot({ events, registrations }: SchoolData, memberId: string | undefined, now: number) {
  const eventOf = (wanted: string) => events.find(({ id }) => id === wanted);
  const isOver = ({ eventId }: Registration) => (eventOf(eventId)?.endsAt ?? 0) < now;
  const own = registrations.filter((registration) => registration.memberId === memberId);
  const shown = (registration: Registration) => {
    const event = eventOf(registration.eventId);
    const online = registration.status === 'REGISTERED' && event?.attendanceMode !== 'OFFLINE';
    const joinUrl = online ? `https://meet.harbour-lane.example/${event?.id}` : null;
    return { ...registration, event: { ...event, joinUrl } };
  };
  const eventRegistrations = ({ when, ...slice }: Slice & { readonly when: 'ANY' | 'UPCOMING' | 'PAST' }) => {
    const wanted = own.filter((registration) => when === 'ANY' || isOver(registration) === (when === 'PAST'));
    return connectionOf(wanted.map(shown), slice);
  };
  return {
    membersByIds({ ids }: { readonly ids: readonly string[] }) {
      if (ids.length > MOST_IDS) throw new GraphQLError(`At most ${MOST_IDS} ids at once.`);
      return ids.map((id) => (id === memberId ? { id, eventRegistrations } : null));
    },
    events: (slice: Slice) => connectionOf(events, slice),
    event: ({ id }: { readonly id: string }) => eventOf(id),
    internalAudit: `${registrations.length} registrations checked, 0 questions`,
    /** Cancels one of the member's own. Repeating it has no effect. */
    cancelRegistration({ registrationId }: { readonly registrationId: string }) {
      const registration = own.find(({ id }) => id === registrationId);
      if (registration === undefined) throw refused('There is no such registration.', 'NOT_FOUND');
      if (registration.cancelledAt === null) {
        if (isOver(registration)) throw refused('The event is over.');
        Object.assign(registration, { status: 'CANCELLED', cancelledAt: now });
      }
      return { registration: shown(registration) };
    },
    deleteMember() {
      throw new GraphQLError('The office only.');
    },
  };
}

/** The requested part of a list as a connection. Throws a GraphQLError for an invalid `first` or `after`. */
function connectionOf<T extends { readonly id: string }>(items: readonly T[], { first: most, after }: Slice) {
  const first = most ?? 20;
  if (first < 0) throw refused('first must not be negative.');
  const all = items.map((node) => ({ cursor: Buffer.from(`after:${node.id}`).toString('base64url'), node }));
  const start = after == null ? 0 : 1 + all.findIndex(({ cursor }) => cursor === after);
  if (after != null && start === 0) throw refused('after is not a cursor of this list: send endCursor of a page.');
  const edges = all.slice(start, start + Math.min(first, LARGEST_SLICE));
  const pageInfo = {
    hasNextPage: start + edges.length < all.length,
    hasPreviousPage: start > 0,
    startCursor: edges.at(0)?.cursor,
    endCursor: edges.at(-1)?.cursor,
  };
  return { nodes: edges.map(({ node }) => node), edges, pageInfo, totalCount: all.length };
}

/** An error of the query, for its author. */
function refused(message: string, code = 'BAD_USER_INPUT'): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
