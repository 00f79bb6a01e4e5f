import { lastUses } from '../../../authorization-server/administration/grant-view.ts';
import { findClient } from '../../../authorization-server/event-client.ts';
import type { GrantsOf } from '../../../authorization-server/grants.ts';
import type { Sources } from '../sources.ts';
import { addGrant, appParts, memberParts } from './read-rows.ts';
import { type AppRow, appRow, emptyRows, type MemberRow, memberRow, type Rows } from './rows.ts';

type Stored = Sources<'grants' | 'store'>;

/** The most grants of one member or app that are read. */
const MOST_GRANTS = 200;

/** A member as the store has them now; undefined if it knows nothing of them. */
export async function memberNow({ store, grants }: Stored, id: string): Promise<MemberRow | undefined> {
  const [entry, suspension, count] = await Promise.all([
    store.get('Member', id),
    store.get('Suspension', id),
    grants.count({ member: id }),
  ]);
  if (entry === undefined && suspension === undefined && count === 0) return undefined;
  const parts = { ...(entry && memberParts(entry)), suspended: suspension !== undefined, grants: count };
  return memberRow(emptyRows(), id, parts);
}

/** The same of an app. */
export async function appNow({ store, grants }: Stored, id: string): Promise<AppRow | undefined> {
  const [entry, block, count] = await Promise.all([
    findClient(store, id),
    store.get('ClientBlock', id),
    grants.count({ client: id }),
  ]);
  if (entry === undefined && block === undefined && count === 0) return undefined;
  return appRow(emptyRows(), id, { ...(entry && appParts(entry)), disabled: block !== undefined, grants: count });
}

/** The grants of one member or app as the store has them now, or the first of them. */
export async function grantsNow(sources: Stored, of: GrantsOf): Promise<Rows> {
  const { store, grants } = sources;
  const [listed, total] = await Promise.all([grants.list(of, MOST_GRANTS), grants.count(of)]);
  const rows = { ...emptyRows(), more: total > listed.length };
  const [unredeemed, uses] = await Promise.all([grants.unredeemed(listed), lastUses(store, listed)]);
  const [members, apps] = [new Set(listed.map(({ member }) => member)), new Set(listed.map((one) => one.clientId))];
  await Promise.all([...members].map(async (id) => memberRow(rows, id, await memberNow(sources, id))));
  await Promise.all([...apps].map(async (id) => appRow(rows, id, await appNow(sources, id))));
  for (const grant of listed) {
    const lastUsedAt = uses.get(grant.id);
    addGrant(rows, grant, { lastUsedAt, redeemed: lastUsedAt !== undefined || !unredeemed.has(grant.id) });
  }
  return rows;
}
