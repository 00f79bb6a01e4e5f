import manifest from '../../package.json' with { type: 'json' };
import { AUDIT_ACTIONS, type AuditEvent, outcomeOf } from './audit.ts';
import type { Meters } from './meters.ts';

/** Values read at scrape time. A source that is not set has no series. */
interface Sources {
  /** Seconds since the oldest of the current signing keys came into use. */
  readonly keyAge: () => number;
  /** Whether the gate can receive requests. */
  readonly ready: () => Promise<boolean>;
  /** Size of the store on disk, in bytes. */
  readonly storeBytes: () => Promise<number>;
  /** How members sign in: the login's `kind` in the configuration. */
  readonly login: () => string;
}

/** A cache that evicts its oldest entry when it is full. */
interface Cache {
  readonly size: number;
  readonly max: number;
}

type TokenCheck = 'active' | 'inactive' | 'failed';

/** Metrics reported by the parts of the gate. Every label is one of our own words or comes from the configuration. */
export interface PartMetrics {
  /** Counts an audit event. */
  audited(event: AuditEvent): void;
  /** An access token was looked up. `remembered` is true on a cache hit. */
  tokenChecked(result: TokenCheck, remembered: boolean): void;
  /** A request was refused by the named limit. */
  limited(limit: string): void;
  /** An operation of the store ended. */
  storeAsked(operation: string, milliseconds: number, failed: boolean): void;
  /** An OAuth endpoint answered with an error. `endpoint` is its route. */
  oauthError(endpoint: string, error: string): void;
  watch(sources: Partial<Sources>): void;
  /** Registering a name again replaces the earlier cache. */
  watchCache(name: string, cache: Cache): void;
}

/**
 * RFC 6749 and related specifications define about twenty. Anything else is counted as `other`, so that a bug cannot
 * create any number of series.
 */
const ERROR = /^[a-z_]{1,40}$/;
const MOST_ERRORS = 64;

/** Reasons for a failed sign-in. */
const SIGN_IN_FAILURES = new Set([
  'not_signed_in',
  'not_as_asked_for',
  'wrong_credentials',
  'too_many_attempts',
  'cancelled',
  'proof_refused',
  'account_not_allowed',
  'account_closed',
  'suspended',
  'login_unavailable',
  'store_unavailable',
]);

const LIMITS = ['address', 'member', 'client', 'attempts', 'open', 'registration'];
const GRANTS: Readonly<Record<string, string>> = {
  token_issued: 'authorization_code',
  token_refreshed: 'refresh_token',
};
const DECISIONS: Readonly<Record<string, string>> = { consent_given: 'given', consent_denied: 'denied' };

export function createPartMetrics({ counter, gauge, latency, total }: Meters): PartMetrics {
  let sources: Partial<Sources> = {};
  const caches = new Map<string, Cache>();

  const events = counter('coursegate_audit_events_total', 'Audit events, by action and outcome.', [
    'action',
    'outcome',
  ]);
  const signIns = counter(
    'coursegate_sign_ins_total',
    'Sign-ins to connect an app, and failed ones on our own page, by login kind and outcome.',
    ['connector', 'outcome'],
  );
  const consents = counter('coursegate_consents_total', 'Decisions of members on the consent page.', ['decision']);
  const tokens = counter('coursegate_tokens_issued_total', 'Access tokens issued, by the grant they were issued for.', [
    'grant',
  ]);
  const errors = counter(
    'coursegate_oauth_errors_total',
    'OAuth error responses, by the route of the endpoint and the error.',
    ['endpoint', 'error'],
  );
  const limited = counter('coursegate_rate_limited_total', 'Requests that a limit has stopped, by its name.', [
    'limit',
  ]);
  const errorsSeen = new Set<string>();

  // Create the series with 0: Prometheus cannot see an increase in a series that starts at 1.
  for (const action of AUDIT_ACTIONS) events.inc({ action, outcome: outcomeOf({ action }) }, 0);
  for (const decision of Object.values(DECISIONS)) consents.inc({ decision }, 0);
  for (const grant of Object.values(GRANTS)) tokens.inc({ grant }, 0);
  for (const limit of LIMITS) limited.inc({ limit }, 0);

  const store = latency(
    'coursegate_store_operation_seconds',
    'Duration of store operations, by operation and result.',
    ['operation', 'result'],
  );
  gauge('coursegate_signing_key_age_seconds', 'Age of the oldest current signing key.', () => sources.keyAge?.());
  gauge(
    'coursegate_ready',
    'Whether this process can receive requests: 0 while it drains, or if its store is unavailable.',
    async () => ((await sources.ready?.()) ? 1 : 0),
  );
  gauge(
    'coursegate_store_bytes',
    'Size of the embedded store on disk, in bytes. For Redis, use its own exporter.',
    () => sources.storeBytes?.(),
  );
  gauge(
    'coursegate_build_info',
    'Always 1, labelled with the versions of coursegate and Node.',
    () => [[{ version: manifest.version, node: process.versions.node }, 1]],
    ['version', 'node'],
  );
  const ofCaches = (name: string, help: string, count: (cache: Cache) => number) =>
    gauge(name, help, () => [...caches].map(([cache, of]) => [{ cache }, count(of)]), ['cache']);
  ofCaches('coursegate_cache_entries', 'Entries in each in-memory cache.', ({ size }) => size);
  ofCaches(
    'coursegate_cache_capacity',
    'Capacity of each cache; when it is full, the oldest entry is evicted.',
    ({ max }) => max,
  );

  const countSignIn = (outcome: string) => signIns.inc({ connector: sources.login?.() ?? 'none', outcome });

  return {
    audited(event) {
      const { action, reason = '' } = event;
      events.inc({ action, outcome: outcomeOf(event) });
      if (action === 'signed_in') countSignIn('success');
      if (action === 'sign_in_failed') countSignIn(SIGN_IN_FAILURES.has(reason) ? reason : 'other');
      const decision = DECISIONS[action];
      if (decision !== undefined) consents.inc({ decision });
      const grant = GRANTS[action];
      if (grant !== undefined) tokens.inc({ grant });
    },
    tokenChecked: tokenChecks(total),
    limited: (limit) => limited.inc({ limit }),
    storeAsked: (operation, milliseconds, failed) => store.observe(milliseconds, operation, failed ? 'failed' : 'done'),
    oauthError(endpoint, error) {
      const known = errorsSeen.has(error) || (ERROR.test(error) && errorsSeen.size < MOST_ERRORS);
      if (known) errorsSeen.add(error);
      errors.inc({ endpoint, error: known ? error : 'other' });
    },
    watch(more) {
      sources = { ...sources, ...more };
      const connector = more.login?.();
      if (connector === undefined) return;
      for (const outcome of ['success', ...SIGN_IN_FAILURES]) signIns.inc({ connector, outcome }, 0);
    },
    watchCache: (name, cache) => void caches.set(name, cache),
  };
}

function tokenChecks(total: Meters['total']): PartMetrics['tokenChecked'] {
  // Plain numbers, because this is counted on every request.
  const checks: Record<TokenCheck, [number, number]> = { active: [0, 0], inactive: [0, 0], failed: [0, 0] };
  total(
    'coursegate_token_checks_total',
    'Access token lookups, by result and by cache hit or miss.',
    () =>
      Object.entries(checks).flatMap(([result, [miss, hit]]) => [
        [{ result, cache: 'miss' }, miss] as const,
        ...(result === 'active' ? [[{ result, cache: 'hit' }, hit] as const] : []),
      ]),
    ['result', 'cache'],
  );
  return (result, remembered) => {
    checks[result][remembered ? 1 : 0] += 1;
  };
}
