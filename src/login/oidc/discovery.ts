import type { JWTVerifyGetKey } from 'jose';
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../storage/store.ts';
import { type OutboundFetch, unavailable } from '../outbound-fetch.ts';
import { remoteKeys } from '../signed-token/remote-keys.ts';

/** Seconds after which a provider's metadata is read again. */
const FRESH = 3600;
/** Seconds for which it is still used while the provider's metadata is unavailable. */
const LASTING = 24 * 3600;

/** The options of every request to a provider. `fetch` itself refuses everything that is neither https nor loopback. */
export function providerTransport(fetch: OutboundFetch) {
  return { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true } as const;
}

/** A provider's metadata. */
export interface Discovered {
  readonly server: oauth.AuthorizationServer;
  /** The provider's signing keys. */
  readonly keys: JWTVerifyGetKey;
}

/**
 * Reads a provider's metadata (OpenID Connect Discovery section 4) when it is first needed, so that a provider that is
 * down does not keep the gate from starting, and again every hour.
 *
 * @throws {GatewayError} `login_unavailable` when the metadata is unavailable
 */
export function createDiscovery(issuer: string, fetch: OutboundFetch, clock: Clock): () => Promise<Discovered> {
  let known: (Discovered & { readonly at: number }) | undefined;
  let reading: ReturnType<typeof read> | undefined;

  const now = () => clock() / 1000;

  const read = async () => {
    const server = await readMetadata(issuer, fetch);
    const url = server.jwks_uri;
    if (url === undefined) throw unavailable(`${issuer} has no jwks_uri`);
    // Keep the cached keys as long as their URL is the same.
    const keys = known?.server.jwks_uri === url ? known.keys : remoteKeys(url, fetch, clock);
    return { server, keys, at: now() };
  };

  return async () => {
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
}

async function readMetadata(issuer: string, fetch: OutboundFetch): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const server = await oauth
    .discoveryRequest(url, providerTransport(fetch))
    .then((response) => oauth.processDiscoveryResponse(url, response))
    .catch((thrown: unknown) => {
      throw unavailable(`the metadata of ${issuer} is unavailable`, thrown);
    });
  // Compared byte for byte, because tokens are checked against this exact value.
  if (server.issuer !== issuer)
    throw unavailable(`the issuer in the metadata of ${issuer} is ${server.issuer}: set that as issuer`);
  return server;
}
