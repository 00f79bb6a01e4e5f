import type Provider from 'oidc-provider';

type Client = InstanceType<Provider['Client']>;

/** What proves that an app is who it says: the host that serves its metadata document, or nothing. */
export type ClientProof = { readonly kind: 'document'; readonly host: string } | { readonly kind: 'none' };

/** In: a client as `Client.find` gave it. A name alone proves nothing; anyone can register any. */
export function clientProof(client: Client): ClientProof {
  const { clientIdMetadataDocument } = client as Client & { readonly clientIdMetadataDocument?: boolean };
  return clientIdMetadataDocument === true
    ? { kind: 'document', host: new URL(client.clientId).host }
    : { kind: 'none' };
}
