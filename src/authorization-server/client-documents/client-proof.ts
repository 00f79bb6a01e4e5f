import type Provider from 'oidc-provider';

type Client = InstanceType<Provider['Client']>;

/** What proves an app's identity: the host that serves its metadata document, or nothing. */
export type ClientProof = { readonly kind: 'document'; readonly host: string } | { readonly kind: 'none' };

/** @param client - as returned by `Client.find`. A name alone proves nothing: anyone can register any name. */
export function clientProof(client: Client): ClientProof {
  const { clientIdMetadataDocument } = client as Client & { readonly clientIdMetadataDocument?: boolean };
  return clientIdMetadataDocument === true
    ? { kind: 'document', host: new URL(client.clientId).host }
    : { kind: 'none' };
}
