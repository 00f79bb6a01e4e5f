import { coursesOf, fails, type Happening, type Member, type Registration, registrationsOf } from './data.ts';

/** The names that one of the two sides uses, and how its fields fail. */
export interface Dialect {
  readonly talk: string;
  readonly status: Readonly<Record<Registration['status'], string>>;
  readonly fail: () => Error;
  readonly instant: (text: string) => string;
}

type Args = Readonly<Record<string, unknown>>;

/** A null window size means the default, as in all our schemas. */
const countOf = (first: unknown): number => (first as number | null) ?? 20;

/** The objects of a member, for graphql-js to execute a schema on: the same ones in both dialects, under all names. */
export function personOf(member: Member, dialect: Dialect) {
  const guarded = <T>(what: string, value: T): T => {
    if (fails(member, what)) throw dialect.fail();
    return value;
  };
  const happening = (of: Happening): Record<string, unknown> => {
    const begins = () => guarded(`${of.id} startsAt`, dialect.instant(of.startsAt));
    const title = () => guarded(`${of.id} title`, of.title);
    const common = { id: of.id, title, startsAt: begins, begins };
    if (of.kind === 'Outing') {
      return {
        __typename: 'Outing',
        ...common,
        seats: () => guarded(`${of.id} seats`, of.seats),
        party: () =>
          guarded(`${of.id} party`, [
            speaker(`p-${of.seats}`, of),
            of.seats % 2 === 0 ? null : happening(of),
            fails(member, `${of.id} guest`) ? dialect.fail() : speaker('p-x', of),
          ]),
      };
    }
    return {
      __typename: dialect.talk,
      ...common,
      speaker: () => guarded(`${of.id} speaker`, speaker(of.speaker, of)),
      guests: ({ first }: Args) => of.guests.slice(0, countOf(first)).map((id) => speaker(id, of)),
    };
  };
  const speaker = (id: string, of: Happening): Record<string, unknown> => ({
    __typename: 'Speaker',
    id: () => guarded(`${id} id`, id),
    name: () => guarded(`${id} name`, id.endsWith('1') ? null : `Name of ${id}`),
    talks: ({ first }: Args) =>
      guarded(
        `${id} talks`,
        of.kind === 'Talk' ? Array.from({ length: Math.min(2, countOf(first)) }, () => happening(of)) : null,
      ),
  });
  const registration = (of: Registration) => ({
    id: of.id,
    status: () => guarded(`${of.id} status`, dialect.status[of.status]),
    state: () => guarded(`${of.id} status`, dialect.status[of.status]),
    note({ length, upper }: Args) {
      const cut = of.note?.slice(0, (length as number | null) ?? 99) ?? null;
      return guarded(`${of.id} note`, upper === true ? (cut?.toUpperCase() ?? null) : cut);
    },
    happening: () => guarded(`${of.id} happening`, happening(of.happening)),
    occasion: () => guarded(`${of.id} happening`, happening(of.happening)),
    course: async () => guarded(`${of.id} course`, { slug: `hint-${of.id}` }),
  });
  const registrations = ({ first, take, offset, only, filter, where }: Args) => {
    guarded('registrations', undefined);
    const wanted = (filter ?? where) as
      | { status?: string | null; state?: string | null; not: boolean }
      | null
      | undefined;
    const state = wanted?.status ?? wanted?.state;
    const all = registrationsOf(member)
      .filter(({ status }) => (only as readonly string[] | null | undefined)?.includes(dialect.status[status]) ?? true)
      .filter(({ status }) => state == null || (dialect.status[status] === state) !== wanted?.not);
    const count = countOf(first ?? take);
    const rows = all.slice(offset as number, (offset as number) + count);
    return {
      nodes: () => rows.map(registration),
      items: () => rows.map((row) => (fails(member, `${row.id} item`) ? dialect.fail() : registration(row))),
      pageInfo: {
        hasNextPage: all.length > (offset as number) + count,
        hasPreviousPage: (offset as number) > 0,
        startCursor: rows[0]?.id ?? null,
        endCursor: () => guarded('endCursor', rows.at(-1)?.id ?? null),
      },
      totalCount: () => guarded('totalCount', all.length),
      count: () => guarded('totalCount', all.length),
    };
  };
  const happenings = registrationsOf(member).map((each) => each.happening);
  const next = ({ kind }: Args) => {
    const found = happenings.find((each) => kind == null || kind === 'ANY' || each.kind.toUpperCase() === kind);
    return guarded('next', found === undefined ? null : happening(found));
  };
  return {
    id: member.id,
    registrations,
    signups: registrations,
    next,
    agenda: ({ first }: Args) => guarded('agenda', happenings.slice(0, countOf(first)).map(happening)),
    badges: () => guarded('badges', member.number),
    badgeCount: () => guarded('badges', member.number),
    streak: () => guarded('streak', member.number * 2),
    missing: null,
    gone: null,
  };
}

/** The data of the REST service in the monolith's form. */
export function coursePart(member: Member, fail: () => Error) {
  const guarded = <T>(what: string, value: T): T => {
    if (fails(member, what)) throw fail();
    return value;
  };
  return {
    email: () => guarded('email', `${member.id}@example.com`),
    courses({ first, after }: Args) {
      guarded('courses', undefined);
      const all = coursesOf(member);
      const start = after == null ? 0 : 1 + JSON.parse(Buffer.from(after as string, 'base64url').toString()).i;
      const rows = all.slice(start, start + countOf(first));
      const course = ({ slug, hours, progress }: (typeof all)[number]) => ({
        slug,
        hours,
        progress: async () => guarded('progress', progress),
      });
      const edges = rows.map((row, at) => ({
        node: course(row),
        cursor: Buffer.from(`{"i":${start + at}}`).toString('base64url'),
      }));
      return {
        nodes: edges.map(({ node }) => node),
        edges,
        pageInfo: {
          hasNextPage: start + rows.length < all.length,
          hasPreviousPage: start > 0,
          startCursor: edges[0]?.cursor ?? null,
          endCursor: edges.at(-1)?.cursor ?? null,
        },
        totalCount: all.length,
      };
    },
  };
}
