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

/** Metrics reported by the parts of the gate. Every label is one of our own words or comes from the configuration. */
export function createPartMetrics({ counter, gauge, latency, total }: Meters) {
  let sources: Partial<Sources> = {};
  const caches = new Map<string, Cache>();

  const events = counter('coursegate_audit_events_total', ['action', 'outcome']);
  const signIns = counter('coursegate_sign_ins_total', ['connector', 'outcome']);
  const consents = counter('coursegate_consents_total', ['decision']);
  const tokens = counter('coursegate_tokens_issued_total', ['grant']);
  const limited = counter('coursegate_rate_limited_total', ['limit']);
  const store = latency('coursegate_store_operation_seconds', ['operation', 'result']);

  // Create the series with 0: Prometheus cannot see an increase in a series that starts at 1.
  for (const action of AUDIT_ACTIONS) events.inc({ action, outcome: outcomeOf({ action }) }, 0);
  for (const decision of Object.values(DECISIONS)) consents.inc({ decision }, 0);
  for (const grant of Object.values(GRANTS)) tokens.inc({ grant }, 0);
  for (const limit of LIMITS) limited.inc({ limit }, 0);

  const versions = { version: manifest.version, node: process.versions.node };
  gauge('coursegate_build_info', () => [[versions, 1]], Object.keys(versions));
  gauge('coursegate_signing_key_age_seconds', () => sources.keyAge?.());
  gauge('coursegate_ready', async () => ((await sources.ready?.()) ? 1 : 0));
  gauge('coursegate_store_bytes', () => sources.storeBytes?.());
  const ofCaches = (name: string, count: (cache: Cache) => number) =>
    gauge(name, () => [...caches].map(([cache, of]) => [{ cache }, count(of)]), ['cache']);
  ofCaches('coursegate_cache_entries', ({ size }) => size);
  ofCaches('coursegate_cache_capacity', ({ max }) => max);

  const countSignIn = (outcome: string) => signIns.inc({ connector: sources.login?.() ?? 'none', outcome });

  return {
    /** Counts an audit event. */
    audited(event: AuditEvent): void {
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
    /** A request was refused by the named limit. */
    limited: (limit: string) => limited.inc({ limit }),
    /** An operation of the store ended. */
    storeAsked: (operation: string, milliseconds: number, failed: boolean) =>
      store.observe(milliseconds, operation, failed ? 'failed' : 'done'),
    watch(more: Partial<Sources>): void {
      sources = { ...sources, ...more };
      const connector = more.login?.();
      if (connector === undefined) return;
      for (const outcome of ['success', ...SIGN_IN_FAILURES]) signIns.inc({ connector, outcome }, 0);
    },
    /** Registering a name again replaces the earlier cache. */
    watchCache: (name: string, cache: Cache) => void caches.set(name, cache),
  };
}

function tokenChecks(total: Meters['total']) {
  // Plain numbers, because this is counted on every request.
  const checks = { active: [0, 0], inactive: [0, 0], failed: [0, 0] } satisfies Record<string, [number, number]>;
  total(
    'coursegate_token_checks_total',
    () =>
      Object.entries(checks).flatMap(([result, [miss, hit]]) => [
        [{ result, cache: 'miss' }, miss] as const,
        ...(result === 'active' ? [[{ result, cache: 'hit' }, hit] as const] : []),
      ]),
    ['result', 'cache'],
  );
  /** An access token was looked up. `remembered` is true on a cache hit. */
  return (result: keyof typeof checks, remembered: boolean): void => {
    checks[result][remembered ? 1 : 0] += 1;
  };
}
