import { setImmediate as turn } from 'node:timers/promises';
import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { type StandingGrant, toGrant } from '../../../authorization-server/grants.ts';
import { UNREDEEMED } from '../../../authorization-server/unredeemed.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import { APP, MEMBER, type Party, storedParts } from './party.ts';
import { type AppRow, appRow, type GrantRow, type MemberRow, memberRow, type Rows, searchText } from './rows.ts';

/** Entries of one slice, which are read and decrypted in about a millisecond. */
const SLICE = 100;
/** The most that are looked at for them. Redis looks at all keys to find those of some kinds. */
const MOST_LOOKED_AT = 1000;

export interface Reading {
  readonly rows: Rows;
  /** Only members and apps whose text contains this, folded. */
  readonly typed: string;
  /** The most rows in all. */
  readonly most: number;
  /** When the reading began, in Unix seconds. */
  readonly since: number;
}

/** Entries come in any order: what is about a grant that was not read yet waits for it here, by its id. */
interface Walk extends Reading {
  readonly uses: Map<string, number>;
  readonly unredeemed: Set<string>;
  /** The kinds of which there is more than may be read. */
  readonly full: Set<string>;
}

type Take = (walk: Walk, entry: Entry) => unknown;

const PARTIES: Readonly<Record<string, Take>> = { ...takesOf(MEMBER), ...takesOf(APP) };

const GRANTS: Readonly<Record<string, Take>> = {
  // A grant that an instance is ending is no longer one.
  Grant: ({ rows }, entry) => entry.consumedAt === undefined && addGrant(rows, toGrant(entry)),
  [LAST_USE]({ rows, uses }, entry) {
    const { grantId, at } = readLastUse(entry);
    const grant = rows.grants.get(grantId);
    if (grant === undefined) uses.set(grantId, at);
    else grant.lastUsedAt = at;
  },
  [UNREDEEMED]: ({ unredeemed }, entry) => unredeemed.add(idIn(entry)),
};

/**
 * Adds to the rows all members, apps and grants, in slices between which other work runs. Members may take half of
 * `most`, and apps as many. If there are more, or more than `most` with the grants, the grants are left out.
 * @param onProgress - how much is read, from 0 to 1
 * Throws GatewayError `store_unavailable`, or the reason of the signal.
 */
export async function readRows(
  store: Pick<Store, 'scan' | 'get'>,
  reading: Reading,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { rows, typed, most, since } = reading;
  const { members, apps, grants } = rows;
  const walk: Walk = { ...reading, uses: new Map(), unredeemed: new Set(), full: new Set() };
  const { uses, unredeemed, full } = walk;
  let from: string | undefined;
  let [total, looked, size] = [1, 0, SLICE];
  do {
    const takes = rows.partial ? PARTIES : { ...PARTIES, ...GRANTS };
    const kinds = Object.keys(takes).filter((kind) => !full.has(kind));
    const scanned = await store.scan(kinds, from, size);
    for (const entry of scanned.entries) takes[entry.kind]?.(walk, entry);
    rows.more = full.size > 0;
    rows.partial ||= rows.more || members.size + apps.size + grants.size + uses.size + unredeemed.size > most;
    if (rows.partial) for (const left of [grants, uses, unredeemed]) left.clear();
    total = Math.max(scanned.total ?? total, 1);
    looked += scanned.looked;
    // A store may have more than it says at first.
    onProgress(Math.min(0.99, looked / total));
    from = scanned.next;
    size = scanned.entries.length > SLICE / 2 ? SLICE : Math.min(size * 2, MOST_LOOKED_AT);
    await turn(undefined, { signal });
  } while (from !== undefined);
  for (const [id, at] of uses) Object.assign(grants.get(id) ?? {}, { lastUsedAt: at });
  for (const id of unredeemed) {
    const grant = grants.get(id);
    if (grant !== undefined) grant.redeemed = grant.lastUsedAt !== undefined;
  }
  await readNewcomers(store, rows, since);
  if (typed !== '') {
    await readStates(store, rows, MEMBER);
    await readStates(store, rows, APP);
  }
  onProgress(1);
}

function takesOf<Row extends MemberRow | AppRow>(party: Party<Row>): Readonly<Record<string, Take>> {
  const { kinds, partsOf, rowOf, mapOf, barred } = party;
  /** Whether there is a row, or one is wanted and may be added. */
  const hasRow = ({ rows, typed, most, full }: Walk, id: string, text: string): boolean => {
    if (mapOf(rows).has(id)) return true;
    if (!text.includes(typed)) return false;
    if (mapOf(rows).size < most / 2) return true;
    for (const kind of kinds) full.add(kind);
    return false;
  };
  const known: Take = (walk, entry) => {
    const parts = partsOf(entry);
    if (hasRow(walk, parts.id, parts.text)) rowOf(walk.rows, parts.id, parts);
  };
  const [kind, state] = barred;
  const isBarred: Take = (walk, entry) => {
    const id = idIn(entry);
    if (hasRow(walk, id, searchText([id]))) rowOf(walk.rows, id).state = state;
  };
  return { ...Object.fromEntries(kinds.map((one) => [one, known])), [kind]: isBarred };
}

/** A member or an app may have come after those of its kind were read, and have a grant all the same. */
async function readNewcomers(store: Pick<Store, 'get'>, rows: Rows, since: number): Promise<void> {
  for (const { member, app, grantedAt } of rows.grants.values()) {
    if (grantedAt < since) continue;
    if (member.name === undefined) memberRow(rows, member.id, await storedParts(store, MEMBER, member.id));
    if (app.kind === 'unknown') appRow(rows, app.id, await storedParts(store, APP, app.id));
  }
}

/** A search passes over the suspension of a member whom it finds later. */
async function readStates<Row extends MemberRow | AppRow>(
  store: Pick<Store, 'get'>,
  rows: Rows,
  { mapOf, barred: [kind, state] }: Party<Row>,
): Promise<void> {
  for (const row of mapOf(rows).values()) if ((await store.get(kind, row.id)) !== undefined) row.state = state;
}

/** Adds a grant. Redis may return an entry twice. */
export function addGrant(
  rows: Rows,
  { id, member, clientId, scopes, grantedAt, expiresAt }: StandingGrant,
  use: Pick<GrantRow, 'lastUsedAt' | 'redeemed'> = { lastUsedAt: undefined, redeemed: true },
): void {
  if (rows.grants.has(id)) return;
  const text = scopes.join(' ');
  const shared = rows.scopes.get(text) ?? text;
  rows.scopes.set(text, shared);
  const row: GrantRow = {
    ...{ id, member: memberRow(rows, member), app: appRow(rows, clientId), scopes: shared },
    ...{ grantedAt, expiresAt, ...use },
  };
  rows.grants.set(id, row);
  row.member.grants += 1;
  row.app.grants += 1;
}

/** Most entries about one member, app or grant contain its id. */
function idIn({ payload }: Entry): string {
  return (JSON.parse(payload) as { readonly id: string }).id;
}
