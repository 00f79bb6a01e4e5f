import type { JWTVerifyGetKey } from 'jose';
import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../config/oidc-login.ts';
import type { Clock } from '../../storage/store.ts';
import { type OutboundFetch, unavailable } from '../outbound-fetch.ts';
import { remoteKeys } from '../signed-token/remote-keys.ts';

/** Seconds after which a provider's metadata is read again. */
const FRESH = 3600;
/** Seconds for which it is still used while the provider's metadata is unavailable. */
const LASTING = 24 * 3600;

/** Adapts our fetch for openid-client, which only sends forms or empty bodies in the calls we make. */
function asCustomFetch(fetch: OutboundFetch): client.CustomFetch {
  return (url, { method, headers, body, signal }) => {
    if (body != null && !(body instanceof URLSearchParams)) throw new TypeError('only forms are sent');
    return fetch(url, { method, headers, body, signal });
  };
}

export interface DiscoveryOptions {
  readonly provider: OidcProviderConfig;
  readonly clientSecret: string | undefined;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
}

/** A provider's metadata, ready to use. */
export interface Discovered {
  readonly configuration: client.Configuration;
  /** The provider's signing keys. */
  readonly keys: JWTVerifyGetKey;
}

interface Known {
  readonly server: client.ServerMetadata;
  readonly keys: JWTVerifyGetKey;
  readonly at: number;
}

/**
 * Reads a provider's metadata (OpenID Connect Discovery section 4) when it is first needed, so that a provider that is
 * down does not keep the gate from starting, and again every hour.
 *
 * @throws {GatewayError} `login_unavailable` when the metadata is unavailable
 */
export function createDiscovery(options: DiscoveryOptions): () => Promise<Discovered> {
  const { provider, fetch, clock } = options;
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;

  const now = () => clock() / 1000;

  const read = async (): Promise<Known> => {
    const server = await readMetadata(provider, fetch);
    const url = server.jwks_uri;
    if (url === undefined) throw unavailable(`${provider.issuer} has no jwks_uri`);
    // Keep the cached keys as long as their URL is the same.
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
      // Our own `fetch` refuses everything that is neither https nor loopback.
      execute: [client.allowInsecureRequests],
    })
    .catch((thrown: unknown) => {
      throw unavailable(`the metadata of ${issuer} is unavailable`, thrown);
    });
  const server = found.serverMetadata();
  // Compared byte for byte, because tokens are checked against this exact value. It could be a template.
  if (server.issuer !== issuer)
    throw unavailable(`the issuer in the metadata of ${issuer} is ${server.issuer}: set that as issuer`);
  return server;
}

/** Created for each use, because tokens are checked against the gate's clock, whose skew can change. */
function configure(server: client.ServerMetadata, { provider, clientSecret, fetch, clock }: DiscoveryOptions) {
  const skew = Math.round((clock() - Date.now()) / 1000);
  const metadata = { [client.clockSkew]: skew, [client.clockTolerance]: 30 };
  const authentication = clientAuthentication(server, clientSecret);
  const configuration = new client.Configuration({ ...server }, provider.clientId, metadata, authentication);
  configuration[client.customFetch] = asCustomFetch(fetch);
  client.allowInsecureRequests(configuration);
  return configuration;
}

function clientAuthentication(server: client.ServerMetadata, secret: string | undefined): client.ClientAuth {
  if (secret === undefined) return client.None();
  // OpenID Connect Discovery section 3: the default is client_secret_basic.
  const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return taken.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}
