import type Provider from 'oidc-provider';

export interface ConsentGrant {
  readonly member: string;
  readonly clientId: string;
  readonly granted: readonly string[];
  readonly rejected: readonly string[];
  readonly resources: readonly string[];
}

/**
 * Makes the grant of one approval. What the member unticked is written down as rejected: left out, it would be asked for
 * again without end. Every scope is both OpenID's and the resource's, since the catalogue is one. Out: the grant's id.
 */
export async function saveGrant(provider: Provider, consent: ConsentGrant): Promise<string> {
  const grant = new provider.Grant({ accountId: consent.member, clientId: consent.clientId });
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
