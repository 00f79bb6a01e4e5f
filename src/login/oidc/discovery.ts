import type { JWTVerifyGetKey } from 'jose';
import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../config/oidc-login.ts';
import type { Clock } from '../../storage/store.ts';
import { type OutboundFetch, unavailable } from '../outbound-fetch.ts';
import { remoteKeys } from '../signed-token/remote-keys.ts';

/** Seconds after which a provider's metadata is read again. */
const FRESH = 3600;
/** Seconds for which it goes on being used while the provider's metadata cannot be had. */
const LASTING = 24 * 3600;

/** What openid-client sends is empty or a form: anything else would be a call that we never make. */
function asCustomFetch(fetch: OutboundFetch): client.CustomFetch {
  return (url, { method, headers, body, signal }) => {
    if (body != null && !(body instanceof URLSearchParams)) throw new TypeError('only a form is ever sent');
    return fetch(url, { method, headers, body, signal });
  };
}

export interface DiscoveryOptions {
  readonly provider: OidcProviderConfig;
  readonly clientSecret: string | undefined;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
}

/** A provider as it describes itself, ready to be asked. */
export interface Discovered {
  readonly configuration: client.Configuration;
  /** Those it signs with. */
  readonly keys: JWTVerifyGetKey;
}

interface Known {
  readonly server: client.ServerMetadata;
  readonly keys: JWTVerifyGetKey;
  readonly at: number;
}

/**
 * Reads a provider's metadata (OpenID Connect Discovery §4) when it is first needed, so that one that is down keeps no gate
 * from starting, and again every hour. Throws GatewayError `login_unavailable` when there is none to be had.
 */
export function createDiscovery(options: DiscoveryOptions): () => Promise<Discovered> {
  const { provider, fetch, clock } = options;
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;

  const now = () => clock() / 1000;

  const read = async (): Promise<Known> => {
    const server = await readMetadata(provider, fetch);
    const url = server.jwks_uri;
    if (url === undefined) throw unavailable(`${provider.issuer} names no jwks_uri`);
    // The same keys stay in memory for as long as they are at the same place.
    const keys = known?.server.jwks_uri === url ? known.keys : remoteKeys({ url, fetch, clock });
    return { server, keys, at: now() };
  };

  const current = async (): Promise<Known> => {
    if (known !== undefined && now() - known.at < FRESH) return known;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    try {
      known = await reading;
    } catch (thrown) {
      if (known === undefined || now() - known.at >= LASTING) throw thrown;
    }
    return known;
  };

  return async () => {
    const { server, keys } = await current();
    return { configuration: configure(server, options), keys };
  };
}

async function readMetadata(
  { issuer, clientId }: OidcProviderConfig,
  fetch: OutboundFetch,
): Promise<client.ServerMetadata> {
  const found = await client
    .discovery(new URL(issuer), clientId, undefined, client.None(), {
      [client.customFetch]: asCustomFetch(fetch),
      // What is not https is refused by `fetch` itself, but for this machine.
      execute: [client.allowInsecureRequests],
    })
    .catch((thrown: unknown) => {
      throw unavailable(`the metadata of ${issuer} cannot be had`, thrown);
    });
  const server = found.serverMetadata();
  // Byte for byte: a template, or another spelling, would not be what its tokens are held to.
  if (server.issuer !== issuer) throw unavailable(`${issuer} calls itself ${server.issuer}: write that as issuer`);
  return server;
}

/** Made for each use, because the clock of the gate is the one that tokens are held to. */
function configure(server: client.ServerMetadata, { provider, clientSecret, fetch, clock }: DiscoveryOptions) {
  const skew = Math.round((clock() - Date.now()) / 1000);
  const metadata = { [client.clockSkew]: skew, [client.clockTolerance]: 30 };
  const authentication = clientAuthentication(server, provider, clientSecret);
  const configuration = new client.Configuration({ ...server }, provider.clientId, metadata, authentication);
  configuration[client.customFetch] = asCustomFetch(fetch);
  client.allowInsecureRequests(configuration);
  return configuration;
}

function clientAuthentication(
  server: client.ServerMetadata,
  { clientAuthentication: chosen }: OidcProviderConfig,
  secret: string | undefined,
): client.ClientAuth {
  if (secret === undefined) return client.None();
  // OpenID Connect Discovery §3: who lists none takes client_secret_basic.
  const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = chosen ?? (taken.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_basic' ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}
