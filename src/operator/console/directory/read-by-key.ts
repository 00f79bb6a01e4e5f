import { lastUses } from '../../../authorization-server/administration/grant-view.ts';
import type { GrantsOf } from '../../../authorization-server/grants.ts';
import type { Sources } from '../sources.ts';
import { APP, MEMBER, type Party, storedParts } from './party.ts';
import { addGrant } from './read-rows.ts';
import { type AppRow, appRow, emptyRows, type MemberRow, memberRow, type Rows } from './rows.ts';

type Stored = Sources<'grants' | 'store'>;

/** The most grants of one member or app that are read. */
const MOST_GRANTS = 200;

/** A member as the store has them now; undefined if it knows nothing of them. */
export const memberNow = (sources: Stored, id: string) => rowNow(sources, MEMBER, id, { member: id });
/** The same of an app. */
export const appNow = (sources: Stored, id: string) => rowNow(sources, APP, id, { client: id });

async function rowNow<Row extends MemberRow | AppRow>(
  { store, grants }: Stored,
  party: Party<Row>,
  id: string,
  of: GrantsOf,
): Promise<Row | undefined> {
  const [kind, state] = party.barred;
  const [parts, bar, count] = await Promise.all([storedParts(store, party, id), store.get(kind, id), grants.count(of)]);
  if (parts === undefined && bar === undefined && count === 0) return undefined;
  const row = party.rowOf(emptyRows(), id, parts);
  row.state = bar && state;
  row.grants = count;
  return row;
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
