import type { Store } from '../../storage/store.ts';
import { LAST_USE, readLastUse } from '../connected-apps/use-entry.ts';
import type { StandingGrant } from '../grants.ts';

/** Grants that one answer lists. */
export const LISTED = 200;

/** When each grant was last used, in Unix seconds: to the day, and some seconds behind. */
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

/** What an operator is told of a grant. */
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

/** In: Unix seconds. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
