import type { Path } from './tree.ts';

/** A key of an earlier version. `*` in the path stands for a name, `[]` for any place in a list. */
interface RemovedKey {
  readonly path: string;
  /** The first version without it. */
  readonly since: string;
  /** What to do instead, or what applies now. */
  readonly instead: string;
}

const in020 = (instead: string, ...paths: readonly string[]): readonly RemovedKey[] =>
  paths.map((path) => ({ path, since: '0.2.0', instead }));

/** Every removed key, for `check` and the start to name. CHANGELOG.md lists them too. */
export const REMOVED_KEYS: readonly RemovedKey[] = [
  ...in020('Use `listen.reusePort` with a redis store (docs/scaling.md)', 'cluster'),
  ...in020('Clients that read nothing for 60s are dropped', 'listen.stall'),
  ...in020('Clients have 15s for the request head', 'listen.headTimeout'),
  ...in020('Clients that send less than 256B per second are dropped', 'listen.uploadRate'),
  ...in020(
    'One address may have a fifth of `listen.maxConnections`. Raise that, or list your proxies in `listen.trustedProxies`',
    'listen.maxConnectionsPerAddress',
  ),
  ...in020('Have your proxy send X-Forwarded-For', 'listen.forwardingField'),
  ...in020('Set `maxmemory-policy noeviction` in Redis', 'store.allowEviction'),
  ...in020(
    'Write each node as text: redis.school.example:6379',
    ...['store.sentinels[].host', 'store.sentinels[].port', 'store.cluster[].host', 'store.cluster[].port'],
  ),
  ...in020('The breaker lets a request through after 5s', 'upstreams.*.breaker.cooldown'),
  ...in020('The breaker counts requests without a response', 'upstreams.*.breaker.statuses'),
  ...in020('A connection may take 2s, or `timeout` if that is shorter', 'upstreams.*.connectTimeout'),
  ...in020('`timeout` applies between two chunks too', 'upstreams.*.bodyTimeout'),
  ...in020(
    'Streams and WebSockets are closed after an hour of silence',
    'upstreams.*.streamTimeout',
    'upstreams.*.tunnelTimeout',
  ),
  ...in020(
    'It is 10000 for each upstream. `listen.maxConnections` limits all streams together',
    'upstreams.*.maxStreams',
  ),
  ...in020(
    'Save the document to a file, name it as `upstreams.*.openapi.file`, and replace it with each release of the backend',
    'upstreams.*.openapi.path',
    'upstreams.*.openapi.refresh',
  ),
  ...in020('Have the backend name the lifetime `expires_in`, or set `lifetime`', 'upstreams.*.credential.expiresIn'),
  ...in020('The backend has 3s to answer', 'login.recheck.timeout'),
  ...in020('Have the backend answer 404 or 410 for a member who no longer exists', 'login.recheck.gone'),
  ...in020(
    'It is 10 in 15m for each account and client address. `login.attempts.address` limits all accounts together',
    'login.attempts.account',
  ),
  ...in020('Name the columns in the query: SELECT member_id AS id, password AS hash', 'login.columns'),
  ...in020('The scheme is detected by the prefix of the hash', 'login.hash.scheme'),
  ...in020('There are at most 4 connections', 'login.connections'),
  ...in020('It is 5m if the backend sends no Retry-After', 'login.lockedOut.wait'),
  ...in020('It follows from the provider’s metadata', 'login.providers[].clientAuthentication'),
  ...in020('RS256, PS256, ES256, ES384 and EdDSA are accepted', 'login.providers[].algorithms', 'login.jwt.algorithms'),
  ...in020('The keys have to arrive within 5s', 'login.jwt.timeout'),
  ...in020(
    'Have the backend send Deprecation (RFC 9745) and Sunset (RFC 8594) itself; the gate passes them on',
    'routes[].deprecated',
  ),
  ...in020('`limits.client` applies to all routes together', 'routes[].limits.client'),
  ...in020('Set `limits.responseBody`', 'routes[].responseLimit'),
  ...in020('The path is /account/graphql', 'account.path'),
  ...in020('A request may have 64KiB', 'account.bodyLimit'),
  ...in020('An operation may take 10s. Each upstream has a `timeout`', 'account.deadline'),
  ...in020(
    'It is fixed (docs/limits.md). `account.limits.cost` limits what an operation may ask for',
    ...['tokens', 'depth', 'fields', 'aliases', 'rootFields', 'directives', 'pageSize'].map(
      (key) => `account.limits.${key}`,
    ),
  ),
  ...in020('It follows from the client', 'mcp.challengeInResult'),
  ...in020('Have your proxy send the host of `origin` as Host', 'mcp.hosts'),
  ...in020('A request may have 1MiB', 'mcp.bodyLimit'),
  ...in020('A call may take 20s. Each upstream has a `timeout`', 'mcp.deadline'),
  ...in020('Keys are remembered for 1h, 250 per member', 'mcp.idempotencyWindow', 'mcp.idempotencyKeys'),
  ...in020('Longer results are shortened or paged (docs/limits.md)', 'mcp.longestText', 'mcp.largestResult'),
  ...in020('The general `limits` apply', 'mcp.limits'),
  ...in020('A code is valid for 60s', 'tokens.code'),
  ...in020('An app that no member connects is kept for 24h', 'clients.registration.unusedLifetime'),
  ...in020('Delivery is retried for 3d', 'events.maxAge'),
  ...in020('Every type is sent: have the backend answer 2xx to those it does not use', 'events.types'),
  ...in020('At most 10000 events wait', 'events.maxPending'),
  ...in020('The page of connected apps is always there', 'pages.apps.enabled'),
  ...in020('Set `timeZone` at the top level', 'pages.timeZone'),
  ...in020('Write `logo: logo.svg`, with the name of your file', 'pages.logo.file'),
  ...in020('Path and query may have 8KiB', 'limits.url'),
  ...in020('Requests in progress may continue for 1h', 'reload.grace'),
];

/** What to say about a key that an earlier version had; undefined for any other. Ignores case, for variables. */
export function removedKey(path: Path): string | undefined {
  const found = REMOVED_KEYS.find((one) => {
    const steps = one.path.replaceAll('[]', '.[]').split('.');
    return steps.length === path.length && steps.every((step, at) => fits(step, path[at]));
  });
  return found && `was removed in ${found.since}, take it out. ${found.instead}`;
}

function fits(step: string, given: string | number | undefined): boolean {
  if (typeof given !== 'string') return step === '[]';
  return step === '*' || step.toLowerCase() === given.replaceAll('_', '').toLowerCase();
}
