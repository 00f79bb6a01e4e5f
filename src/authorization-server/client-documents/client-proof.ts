import type Provider from 'oidc-provider';

type Client = InstanceType<Provider['Client']>;

/**
 * The host that serves an app's metadata document, which proves whose app it is; undefined for an app without one.
 * @param client - as returned by `Client.find`. A name alone proves nothing: anyone can register any name.
 */
export function documentHost(client: Client): string | undefined {
  const { clientIdMetadataDocument } = client as Client & { readonly clientIdMetadataDocument?: boolean };
  return clientIdMetadataDocument === true ? new URL(client.clientId).host : undefined;
}
