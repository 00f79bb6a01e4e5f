import { storedApp } from '../../../authorization-server/administration/stored-app.ts';
import { clientHost } from '../../../authorization-server/client-host.ts';
import { storedMember } from '../../../authorization-server/members.ts';
import { detailsOf } from '../../../oauth/member-details.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import { type AppRow, appRow, type MemberRow, memberRow, nameOf, type Rows, searchText } from './rows.ts';

/** How the store keeps members, or apps. */
export interface Party<Row extends MemberRow | AppRow> {
  /** The kinds of entries, of which each member or app has one. */
  readonly kinds: readonly string[];
  /** The kind of the entry that takes the access away, and the state of the row if there is one. */
  readonly barred: readonly [kind: string, state: Row['state']];
  readonly mapOf: (rows: Rows) => ReadonlyMap<string, Row>;
  readonly rowOf: (rows: Rows, id: string, known?: Partial<Row>) => Row;
  /** What is shown and searched of an entry. */
  readonly partsOf: (entry: Entry) => Partial<Row> & Pick<Row, 'id' | 'name' | 'text'>;
}

export const MEMBER: Party<MemberRow> = {
  kinds: ['Member'],
  barred: ['Suspension', 'suspended'],
  mapOf: ({ members }) => members,
  rowOf: memberRow,
  partsOf(entry) {
    const { sub: id, ...member } = storedMember(entry);
    const { name, ...others } = detailsOf(member);
    return { id, name, email: others.email, text: searchText([name, ...Object.values(others), id]) };
  },
};

export const APP: Party<AppRow> = {
  kinds: ['Client', 'ClientDocument'],
  barred: ['ClientBlock', 'disabled'],
  mapOf: ({ apps }) => apps,
  rowOf: appRow,
  partsOf(entry) {
    const { id, name, kind, redirectUris } = storedApp(entry);
    const hosts = [...new Set(redirectUris.map(clientHost))].filter((host) => host !== undefined);
    return { id, name, kind, hosts, text: searchText([name, ...hosts, id]) };
  },
};

/** A member or an app, from the store. Throws GatewayError `store_unavailable`. */
export async function storedParts<Row extends MemberRow | AppRow>(
  store: Pick<Store, 'get'>,
  { kinds, partsOf }: Party<Row>,
  id: string,
) {
  for (const kind of kinds) {
    const entry = await store.get(kind, id);
    if (entry !== undefined) return partsOf(entry);
  }
  return undefined;
}

export const memberName = (store: Pick<Store, 'get'>, id: string): Promise<string> => nameIn(store, MEMBER, id);
export const appName = (store: Pick<Store, 'get'>, id: string): Promise<string> => nameIn(store, APP, id);

async function nameIn<Row extends MemberRow | AppRow>(store: Pick<Store, 'get'>, party: Party<Row>, id: string) {
  return nameOf((await storedParts(store, party, id)) ?? { id, name: undefined });
}
