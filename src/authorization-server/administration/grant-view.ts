import type { Store } from '../../storage/store.ts';
import { LAST_USE, readLastUse } from '../connected-apps/use-entry.ts';
import type { Grants, GrantsOf, StandingGrant } from '../grants.ts';

/** The most grants in one response. */
const LISTED = 200;

/** The grants of a member or an app, as shown to operators; `more` says that there are more than these. */
export async function grantList(store: Store, grants: Pick<Grants, 'list'>, of: GrantsOf) {
  const listed = await grants.list(of, LISTED + 1);
  const shown = listed.slice(0, LISTED);
  const uses = await lastUses(store, shown);
  return {
    grants: shown.map((grant) => ({
      id: grant.id,
      member: grant.member,
      client_id: grant.clientId,
      scopes: grant.scopes,
      resources: grant.resources,
      granted_at: isoTime(grant.grantedAt),
      last_used_at: isoTime(uses.get(grant.id)),
      expires_at: isoTime(grant.expiresAt),
    })),
    more: listed.length > LISTED,
  };
}

/** When each grant was last used, in Unix seconds. Exact only to the day, and seconds out of date. */
export async function lastUses(store: Store, grants: readonly StandingGrant[]): Promise<ReadonlyMap<string, number>> {
  const entries = await Promise.all(grants.map(({ id }) => store.get(LAST_USE, id)));
  const uses = entries.flatMap((entry) => (entry === undefined ? [] : [readLastUse(entry)]));
  return new Map(uses.map(({ grantId, at }) => [grantId, at]));
}

/** Formats Unix seconds as ISO 8601. JSON leaves out what is undefined. */
export function isoTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString();
}
