import type { Store } from '../../storage/store.ts';
import { LAST_USE, readLastUse } from '../connected-apps/use-entry.ts';
import type { StandingGrant } from '../grants.ts';

/** The most grants in one response. */
export const LISTED = 200;

/** When each grant was last used, in Unix seconds. Exact only to the day, and seconds out of date. */
export async function lastUses(store: Store, grants: readonly StandingGrant[]): Promise<ReadonlyMap<string, number>> {
  const entries = await Promise.all(grants.map(({ id }) => store.get(LAST_USE, id)));
  return new Map(
    entries.flatMap((entry) => {
      if (entry === undefined) return [];
      const { grantId, at } = readLastUse(entry);
      return [[grantId, at] as const];
    }),
  );
}

/** A grant as shown to operators. */
export function viewOf(grant: StandingGrant, lastUsedAt: number | undefined): object {
  return {
    id: grant.id,
    member: grant.member,
    client_id: grant.clientId,
    scopes: grant.scopes,
    resources: grant.resources,
    granted_at: isoTime(grant.grantedAt),
    ...(lastUsedAt === undefined ? {} : { last_used_at: isoTime(lastUsedAt) }),
    ...(grant.expiresAt === undefined ? {} : { expires_at: isoTime(grant.expiresAt) }),
  };
}

/** Formats Unix seconds as ISO 8601. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
