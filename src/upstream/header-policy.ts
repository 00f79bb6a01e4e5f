import type { Config, UpstreamConfig } from '../config/schema.ts';
import { requestFields, responseFields } from '../http/header-names.ts';
import { serverName } from '../http/host.ts';
import { pseudonymOf } from '../http/via.ts';
import { type CredentialConfig, credentialField } from './credentials/settings.ts';
import { pathPrefix, type UpstreamAddress } from './location.ts';

/**
 * The header policy, for both lanes and for upgrades. Fields are flat arrays of names and values, as in `rawHeaders`:
 * nothing is merged, and a repeated field cannot hide behind an object key.
 *
 * On the `protected` lane the principal is the only identity. Authorization, Cookie, Set-Cookie, challenges and the
 * upstream's CORS policy are removed, and only known request fields pass. An upstream's 401 becomes a 403 there: the
 * token was valid, and a 401 would make the app request another one. On the `site` lane the legacy site keeps its own
 * cookies, its own HTTP authentication, and every field that is not known to be dangerous.
 */
type Lane = 'protected' | 'site';

/** The policy of one upstream on one lane. Created once. */
export type HeaderPolicy = ReturnType<typeof headerPolicy>;

/** The policies of all upstreams on the protected lane, by name. */
export function protectedPolicies(config: Pick<Config, 'upstreams' | 'origin'>): ReadonlyMap<string, HeaderPolicy> {
  return new Map(Object.keys(config.upstreams).map((name) => [name, headerPolicy('protected', config, name)]));
}

/** @param name the upstream's key in `upstreams` */
export function headerPolicy(lane: Lane, { upstreams, origin }: Pick<Config, 'upstreams' | 'origin'>, name: string) {
  const upstream = upstreams[name];
  if (upstream === undefined) throw new Error(`There is no upstream named ${name}.`);
  const url = new URL(upstream.url);
  const { request, response } = upstream.headers;
  const addresses = (key: string, config: UpstreamConfig) =>
    namesOf(config).map((one) => ({ upstream: key, url: one }));
  const aliases = addresses(name, upstream).slice(1);
  const others = Object.entries(upstreams).flatMap(([key, other]) => (other === upstream ? [] : addresses(key, other)));
  const internal: readonly [UpstreamAddress, ...UpstreamAddress[]] = [{ upstream: name, url }, ...aliases, ...others];
  return {
    lane,
    requestField: requestFields({
      knownOnly: lane === 'protected',
      ...request,
      drop: [...request.drop, ...credentialNames(upstream.credential, lane)],
    }),
    responseField: responseFields(response),
    /** The Host that is sent to the upstream. */
    host: hostFor(upstream, origin),
    /** Our public origin, and its parts for the forwarding fields. */
    origin,
    forwarded: forwardedOrigin(origin),
    /** The addresses by which upstreams refer to themselves; the first is that of the upstream that responds. */
    internal,
    /**
     * The name for SNI and certificate verification of an https upstream, whatever Host says; '' for an IP address: Host
     * is used.
     */
    servername: serverName(url),
  };
}

/**
 * The Host for an upstream. An http upstream is the application next to us, which builds links and redirects from its
 * public name. An https upstream is a remote server, which finds the site and its certificate by its own name.
 */
function hostFor(upstream: UpstreamConfig, origin: string): string {
  const url = new URL(upstream.url);
  const setting = upstream.host ?? (url.protocol === 'https:' ? 'upstream' : 'public');
  return setting === 'public' ? new URL(origin).host : url.host;
}

/**
 * The fields of a credential, which clients must not set themselves. On the site lane, what browsers authenticate with
 * is left alone: the site's cookies, and HTTP authentication (a Bearer token there is for us in any case).
 */
function credentialNames(credential: CredentialConfig | undefined, lane: Lane): readonly string[] {
  const field = credentialField(credential);
  const csrf = credential?.kind === 'session' && lane === 'protected' ? [credential.csrf?.header ?? []].flat() : [];
  return field === undefined || field === 'cookie' || (field === 'authorization' && lane === 'site')
    ? csrf
    : [field, ...csrf];
}

export type OwnCallPolicy = Pick<HeaderPolicy, 'host' | 'forwarded' | 'servername'>;

/**
 * For our own calls to an upstream: its Host, the parts of our public origin for the forwarding fields, and the name to
 * verify its certificate by.
 */
export function ownCallPolicy(upstream: UpstreamConfig, origin: string): OwnCallPolicy {
  return {
    host: hostFor(upstream, origin),
    forwarded: forwardedOrigin(origin),
    servername: serverName(new URL(upstream.url)),
  };
}

/**
 * How an upstream sees itself, for our own calls to its pages: its origin, all other origins it may use for itself
 * (with either scheme, because many backends behind a proxy do not know that they are on https), and its path prefix.
 */
export function ownCallPlace(upstream: UpstreamConfig, origin: string) {
  const url = new URL(upstream.url);
  const host = hostFor(upstream, origin);
  const hosts = [new URL(origin).host, ...namesOf(upstream).map((name) => name.host)];
  return {
    origin: host === new URL(origin).host ? origin : url.origin,
    aliases: hosts.flatMap((name) => [`http://${name}`, `https://${name}`]),
    prefix: pathPrefix(url),
  };
}

/** The URLs of one upstream: the configured one first, then the same under its aliases. */
function namesOf(upstream: UpstreamConfig): URL[] {
  return [upstream.url, ...upstream.aliases.map((alias) => `http://${alias}${new URL(upstream.url).pathname}`)].map(
    (text) => new URL(text),
  );
}

/** The parts of our origin that the forwarding fields need, computed once. */
export type ForwardedOrigin = ReturnType<typeof forwardedOrigin>;

function forwardedOrigin(origin: string) {
  const { host, protocol, port } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  const quoted = /[^\w.-]/.test(host) ? `"${host}"` : host;
  return {
    host,
    scheme,
    port: port || (scheme === 'https' ? '443' : '80'),
    /** What follows `for=` in Forwarded (RFC 7239). A host with a port is quoted. */
    forwarded: `;host=${quoted};proto=${scheme}`,
    /** The gate's own entry in Via. */
    via: `1.1 ${pseudonymOf(origin)}`,
  };
}
