import type Provider from 'oidc-provider';
import { recordId } from './record-id.ts';

export interface ConsentGrant {
  readonly member: string;
  readonly clientId: string;
  readonly granted: readonly string[];
  readonly rejected: readonly string[];
  readonly resources: readonly string[];
}

/**
 * Creates the grant for one approval and returns its id. Scopes that the member unticked are stored as rejected; if
 * they were left out, the member would be asked for them again and again. Every scope is granted both for OpenID and
 * for the resource, because there is one catalogue.
 */
export async function saveGrant(provider: Provider, consent: ConsentGrant): Promise<string> {
  const grant = new provider.Grant({ accountId: consent.member, clientId: consent.clientId });
  grant.jti = recordId();
  const granted = consent.granted.join(' ');
  const rejected = consent.rejected.join(' ');
  grant.addOIDCScope(granted);
  for (const resource of consent.resources) grant.addResourceScope(resource, granted);
  if (rejected !== '') {
    grant.rejectOIDCScope(rejected);
    for (const resource of consent.resources) grant.rejectResourceScope(resource, rejected);
  }
  return grant.save();
}

/** How long a grant lasts at most, in seconds. */
export function grantLifetime(provider: Provider): number {
  return new provider.Grant().expiration;
}
