import { jsonEntry, type Mutation, type NewEntry, type Store } from '../storage/store.ts';

/** The kind of entry that belongs to a grant until its app has redeemed the code. */
export const UNREDEEMED = 'UnredeemedGrant';

/** Is written with the grant. Grants of earlier versions have none, and count as redeemed. */
export function unredeemedEntry({ id, expiresAt }: NewEntry): NewEntry {
  return jsonEntry(UNREDEEMED, id, { id }, expiresAt, { grant: id });
}

/** Is committed with the tokens that the code is redeemed for. */
export function redeemed(id: string): Mutation {
  return { op: 'delete', kind: UNREDEEMED, id };
}

/** Which of these grants were approved without their app ever fetching a token. Such a grant gives no access. */
export async function unredeemedAmong(
  store: Pick<Store, 'get'>,
  grants: readonly { readonly id: string }[],
): Promise<ReadonlySet<string>> {
  const entries = await Promise.all(grants.map(({ id }) => store.get(UNREDEEMED, id)));
  return new Set(grants.filter((_, at) => entries[at] !== undefined).map(({ id }) => id));
}
