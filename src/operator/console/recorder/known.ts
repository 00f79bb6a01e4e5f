import { folded } from '../../../http/visible-text.ts';
import type { Store } from '../../../storage/store.ts';
import { APP, MEMBER, type Party, storedParts } from '../directory/party.ts';
import { type AppRow, type MemberRow, nameOf, searchText } from '../directory/rows.ts';

/** A member or an app. */
export interface KnownParty {
  readonly id: string;
  readonly name: string;
  /** For the search, as `searchText` writes it. */
  readonly text: string;
}

/** Something about an app and a member. */
interface About {
  readonly app: KnownParty | undefined;
  readonly member: KnownParty | undefined;
  /** What the app is called there; it may be known by nothing else. */
  readonly name: string | undefined;
}

interface Ids {
  readonly app: string | undefined;
  readonly member: string | undefined;
}

/** The most members or apps whose names are read. */
const MOST_NAMED = 2000;

/** The apps and members with these ids, by id. */
export async function knownOf(store: Store, ids: readonly Ids[]) {
  const [apps, members] = await Promise.all([
    known(store, APP, new Set(ids.flatMap(({ app }) => app ?? []))),
    known(store, MEMBER, new Set(ids.flatMap(({ member }) => member ?? []))),
  ]);
  return { apps, members };
}

/** Without the store, and beyond the bound, nothing but the id is known. */
async function known<Row extends MemberRow | AppRow>(
  store: Store,
  party: Party<Row>,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, KnownParty>> {
  const all = [...ids].map(async (id, at): Promise<KnownParty> => {
    const found = at < MOST_NAMED ? await storedParts(store, party, id).catch(() => undefined) : undefined;
    return { id, name: nameOf(found ?? { id, name: undefined }), text: found?.text ?? searchText([id]) };
  });
  return new Map((await Promise.all(all)).map((one) => [one.id, one]));
}

/**
 * Whether something is about the app and the member that were typed. An id that is there means this one alone; anything
 * else is part of what is known of it, or of the name of the app. '' is everything.
 */
export function isAbout(typed: { readonly app: string; readonly member: string }, all: readonly About[]) {
  const isApp = isMeant(typed.app, (id) => all.some(({ app }) => app?.id === id));
  const isMember = isMeant(typed.member, (id) => all.some(({ member }) => member?.id === id));
  return ({ app, member, name }: About): boolean => isApp(app, name) && isMember(member);
}

function isMeant(
  typed: string,
  isId: (id: string) => boolean,
): (one: KnownParty | undefined, name?: string) => boolean {
  const id = typed.trim();
  const text = folded(id);
  if (isId(id)) return (one) => one?.id === id;
  return (one, name = '') => one?.text.includes(text) === true || folded(name).includes(text);
}
