import { setImmediate as turn } from 'node:timers/promises';
import { storedApp } from '../../../authorization-server/administration/stored-app.ts';
import { clientHost } from '../../../authorization-server/client-host.ts';
import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { type StandingGrant, toGrant } from '../../../authorization-server/grants.ts';
import { storedMember } from '../../../authorization-server/members.ts';
import { UNREDEEMED } from '../../../authorization-server/unredeemed.ts';
import { detailsOf } from '../../../oauth/member-details.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import { appRow, type GrantRow, memberRow, type Rows, searchText } from './rows.ts';

/** Entries of one slice, which are read and decrypted in about a millisecond. */
const SLICE = 100;
/** The most that are looked at for them. Redis looks at all keys to find those of one kind. */
const MOST_LOOKED_AT = 1000;

export interface Reading {
  readonly rows: Rows;
  /** Only members and apps whose text contains this, folded. */
  readonly typed: string;
  /** The most rows in all. */
  readonly most: number;
}

type Step = readonly [kind: string, take: (reading: Reading, entry: Entry) => unknown];

const PARTIES: readonly Step[] = [
  ['Member', takeMember],
  ['Client', takeApp],
  ['ClientDocument', takeApp],
  [
    'Suspension',
    ({ rows, typed }, entry) => {
      const id = idIn(entry);
      if (rows.members.has(id) || searchText([id]).includes(typed)) memberRow(rows, id).suspended = true;
    },
  ],
  [
    'ClientBlock',
    ({ rows, typed }, entry) => {
      const id = idIn(entry);
      if (rows.apps.has(id) || searchText([id]).includes(typed)) appRow(rows, id).disabled = true;
    },
  ],
];

/** Read after the parties, because they refer to them. */
const GRANTS: readonly Step[] = [
  // A grant that an instance is ending is no longer one.
  ['Grant', ({ rows }, entry) => entry.consumedAt === undefined && addGrant(rows, toGrant(entry))],
  [
    LAST_USE,
    ({ rows }, entry) => {
      const { grantId, at } = readLastUse(entry);
      const grant = rows.grants.get(grantId);
      if (grant !== undefined) grant.lastUsedAt = at;
    },
  ],
  [
    UNREDEEMED,
    ({ rows }, entry) => {
      const grant = rows.grants.get(idIn(entry));
      if (grant !== undefined) grant.redeemed = grant.lastUsedAt !== undefined;
    },
  ],
];

/**
 * Adds to the rows all members, apps and grants, in slices between which other work runs. If there are more than `most`,
 * each kind of member and app may take half of the room that is left, and the grants are left out.
 * @param onProgress - how much is read, from 0 to 1
 * Throws GatewayError `store_unavailable`, or the reason of the signal.
 */
export async function readRows(
  store: Pick<Store, 'scan'>,
  reading: Reading,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { rows, most } = reading;
  const steps = rows.partial ? PARTIES : [...PARTIES, ...GRANTS];
  const held = () => rows.members.size + rows.apps.size + rows.grants.size;
  for (const [at, [kind, take]] of steps.entries()) {
    const isOfGrants = at >= PARTIES.length;
    if (rows.partial && isOfGrants) break;
    const limit = isOfGrants ? most : (held() + most) / 2;
    let from: string | undefined;
    let total = 0;
    let looked = 0;
    let size = SLICE;
    do {
      const scanned = await store.scan(kind, from, size);
      for (const entry of scanned.entries) take(reading, entry);
      total = scanned.total ?? total;
      looked += scanned.looked;
      onProgress((at + Math.min(1, looked / Math.max(total, 1))) / steps.length);
      from = scanned.next;
      size = scanned.entries.length > SLICE / 2 ? SLICE : Math.min(size * 2, MOST_LOOKED_AT);
      await turn(undefined, { signal });
    } while (from !== undefined && held() < limit);
    if (from === undefined) continue;
    rows.partial = true;
    rows.more ||= !isOfGrants;
    rows.grants.clear();
  }
  onProgress(1);
}

/** What is shown and searched of a member. */
export function memberParts(entry: Entry) {
  const { sub: id, ...member } = storedMember(entry);
  const { name, ...others } = detailsOf(member);
  return { id, name, email: others.email, text: searchText([name, ...Object.values(others), id]) };
}

export function appParts(entry: Entry) {
  const { id, name, kind, redirectUris } = storedApp(entry);
  const hosts = [...new Set(redirectUris.map(clientHost))].filter((host) => host !== undefined);
  return { id, name, kind, hosts, text: searchText([name, ...hosts, id]) };
}

function takeMember({ rows, typed }: Reading, entry: Entry): void {
  const parts = memberParts(entry);
  if (parts.text.includes(typed)) memberRow(rows, parts.id, parts);
}

function takeApp({ rows, typed }: Reading, entry: Entry): void {
  const parts = appParts(entry);
  if (parts.text.includes(typed)) appRow(rows, parts.id, parts);
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
