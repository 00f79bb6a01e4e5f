import { setImmediate as turn } from 'node:timers/promises';
import { storedApp } from '../../../authorization-server/administration/stored-app.ts';
import { clientHost } from '../../../authorization-server/client-host.ts';
import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { toGrant } from '../../../authorization-server/grants.ts';
import { storedMember } from '../../../authorization-server/members.ts';
import { UNREDEEMED } from '../../../authorization-server/unredeemed.ts';
import { detailsOf } from '../../../oauth/member-details.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import { appRow, emptyRows, type GrantRow, memberRow, pairOf, type Rows, searchText } from './rows.ts';

/** Entries of one slice, which are read and decrypted in about a millisecond. */
const SLICE = 100;
/** The most that are looked at for them. Redis looks at all keys to find those of one kind. */
const MOST_LOOKED_AT = 1000;
/** The most members, apps and grants that are read, each. */
const MOST_ROWS = 200_000;

interface Reading {
  readonly rows: Rows;
  /** By grant id. */
  readonly uses: Map<string, number>;
  /** By grant id. */
  readonly unredeemed: Set<string>;
  /** Members and apps that are connected, by `pairOf`. */
  readonly pairs: Set<string>;
  /** Scope texts: many grants have the same. */
  readonly scopes: Map<string, string>;
  readonly most: number;
}

/** What is read, in this order: grants last, because they refer to the others. */
const STEPS: readonly (readonly [kind: string, take: (reading: Reading, entry: Entry) => unknown])[] = [
  ['Member', takeMember],
  ['Client', takeApp],
  ['ClientDocument', takeApp],
  [
    'Suspension',
    ({ rows }, entry) => {
      memberRow(rows, idIn(entry)).suspended = true;
    },
  ],
  [
    'ClientBlock',
    ({ rows }, entry) => {
      appRow(rows, idIn(entry)).disabled = true;
    },
  ],
  [LAST_USE, takeUse],
  [UNREDEEMED, ({ unredeemed }, entry) => unredeemed.add(idIn(entry))],
  ['Grant', takeGrant],
];

/**
 * Reads all members, apps and grants, in slices between which other work runs.
 * @param onProgress - how much is read, from 0 to 1
 * Throws GatewayError `store_unavailable`, or the reason of the signal.
 */
export async function readRows(
  store: Pick<Store, 'scan'>,
  onProgress: (share: number) => void,
  signal: AbortSignal,
  most = MOST_ROWS,
): Promise<Rows> {
  const reading: Reading = {
    ...{ rows: emptyRows(), uses: new Map(), scopes: new Map(), most },
    ...{ unredeemed: new Set(), pairs: new Set() },
  };
  for (const [step, [kind, take]] of STEPS.entries()) {
    let from: string | undefined;
    let total = 0;
    let looked = 0;
    let limit = SLICE;
    do {
      const scanned = await store.scan(kind, from, limit);
      for (const entry of scanned.entries) take(reading, entry);
      total = scanned.total ?? total;
      looked += scanned.looked;
      onProgress((step + Math.min(1, looked / Math.max(total, 1))) / STEPS.length);
      from = scanned.next;
      limit = scanned.entries.length > SLICE / 2 ? SLICE : Math.min(limit * 2, MOST_LOOKED_AT);
      await turn(undefined, { signal });
    } while (from !== undefined && !isFull(reading, kind));
    if (from !== undefined) reading.rows.partial = true;
  }
  return reading.rows;
}

function isFull({ rows, uses, unredeemed, most }: Reading, kind: string): boolean {
  const sizes = { Member: rows.members.size, Grant: rows.grants.size };
  const size = { ...sizes, [LAST_USE]: uses.size, [UNREDEEMED]: unredeemed.size }[kind] ?? rows.apps.size;
  return size >= most;
}

function takeMember({ rows }: Reading, entry: Entry): void {
  const member = storedMember(entry);
  const id = member.sub;
  const { name, ...others } = detailsOf(member);
  memberRow(rows, id, { name, email: others.email, text: searchText([name, ...Object.values(others), id]) });
}

function takeApp({ rows }: Reading, entry: Entry): void {
  const { id, name, kind, redirectUris } = storedApp(entry);
  const hosts = [...new Set(redirectUris.map(clientHost))].filter((host) => host !== undefined);
  appRow(rows, id, { name, kind, hosts, text: searchText([name, ...hosts, id]) });
}

function takeUse({ uses }: Reading, entry: Entry): void {
  const { grantId, at } = readLastUse(entry);
  uses.set(grantId, at);
}

function takeGrant({ rows, uses, unredeemed, pairs, scopes }: Reading, entry: Entry): void {
  const { id, member, clientId, scopes: granted, grantedAt, expiresAt } = toGrant(entry);
  // Redis may return an entry twice, and a grant that an instance is ending is no longer one.
  if (rows.grants.has(id) || entry.consumedAt !== undefined) return;
  const text = granted.join(' ');
  const shared = scopes.get(text) ?? text;
  scopes.set(text, shared);
  const lastUsedAt = uses.get(id);
  const row: GrantRow = {
    ...{ id, member: memberRow(rows, member), app: appRow(rows, clientId), scopes: shared },
    ...{ grantedAt, lastUsedAt, expiresAt, redeemed: lastUsedAt !== undefined || !unredeemed.has(id) },
  };
  rows.grants.set(id, row);
  row.member.grants += 1;
  row.app.grants += 1;
  if (row.redeemed && pairs.size < pairs.add(pairOf(row)).size) row.app.members += 1;
}

/** Most entries about one member, app or grant contain its id. */
function idIn({ payload }: Entry): string {
  return (JSON.parse(payload) as { readonly id: string }).id;
}
