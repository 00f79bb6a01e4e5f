import { createUsage, type Usage } from '../authorization-server/connected-apps/usage.ts';
import { type Keyring, openKeyring } from '../authorization-server/keyring.ts';
import { type CarriedOver, carriedOver } from '../config/carried-over.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type Audit, createAudit } from '../operations/audit.ts';
import { createDenials } from '../operations/denials.ts';
import { createLineWriter, type LineWriter } from '../operations/line-writer.ts';
import type { Log } from '../operations/log.ts';
import { createMetrics, type Metrics, type MetricsOptions } from '../operations/metrics.ts';
import { observedStore } from '../operations/observed-store.ts';
import { createReloads, type Reloads } from '../operations/reloads.ts';
import { type UnusedTokens, unusedTokens } from '../operations/unused-tokens.ts';
import { type OpenedStore, openStore } from '../storage/open.ts';
import { bytesOf } from '../storage/sqlite-size.ts';
import { type Clock, unixSeconds } from '../storage/store.ts';
import { configFingerprint } from './config-fingerprint.ts';
import { createRevocations, type Revocations } from './revocations.ts';

/** What lives as long as the process, whatever the configuration says meanwhile: all that remembers or is counted. */
export interface Foundation
  extends Pick<OpenedStore, 'store' | 'secret' | 'secrets' | 'reseal' | 'counters' | 'places' | 'probe'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly keyring: Keyring;
  /** What apps do, counted. */
  readonly usage: Usage;
  readonly revocations: Revocations;
  /** What one configuration hands down to the next. */
  readonly carriedOver: CarriedOver;
  readonly metrics: Metrics;
  readonly audit: Audit;
  /** Tells the audit of whom the gate refuses. */
  readonly denied: ReturnType<typeof createDenials>;
  readonly reloads: Reloads;
  /** Tells configurations apart by what is in their files. Keyed, for secrets are among it. */
  fingerprint(loaded: LoadedConfig): string;
  readonly unused: UnusedTokens;
  /** Where the lines of the access log go; undefined: nowhere. */
  readonly accessLines: LineWriter | undefined;
  /** Writes what is left, and lets go of everything. */
  close(): Promise<void>;
}

export interface FoundationOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** The file descriptor the access log goes to; undefined: nowhere. */
  readonly accessDescriptor: number | undefined;
  /** How long a signing key signs, in seconds. */
  readonly keyLifetime: () => number;
  /** How each upstream is doing now, for the metrics. */
  readonly upstreams: MetricsOptions['upstreams'];
  /** What waits to be told to the backend, for the metrics. */
  readonly events: MetricsOptions['events'];
}

const NOBODY = {
  clientId: undefined,
  grantId: undefined,
  member: undefined,
  address: undefined,
  requestId: undefined,
} as const;

/** Throws what keeps the gate from starting, such as a store that cannot be used; then nothing is left open. */
export async function openFoundation(options: FoundationOptions): Promise<Foundation> {
  const { loaded, log, clock, accessDescriptor, keyLifetime, upstreams, events } = options;
  const { config } = loaded;
  const onDamaged = (kind: string, err: unknown) =>
    log.error({ kind, err }, 'an entry of the store is damaged, and counts as absent');
  const { check, bus, ...opened } = await openStore(config.store, loaded, clock, onDamaged);
  const accessLines =
    accessDescriptor === undefined
      ? undefined
      : createLineWriter(accessDescriptor, (error) => log.error({ err: error }, 'the access log cannot be written'));
  const metrics = createMetrics({
    droppedLines: () => accessLines?.dropped() ?? 0,
    upstreams,
    events,
    clock,
    reloads: () => reloads.state(),
    unused: () => ({ connections: unused.connections(), apps: unused.apps() }),
  });
  const store = observedStore(opened.store, metrics);
  const unused = unusedTokens({ store, replicas: config.store.kind === 'redis', clock, log });
  const written = createAudit(log, clock);
  const usage = createUsage(store, clock);
  const audit: Audit = (event) => {
    written(event);
    unused.heard(event);
    metrics.heard(event);
  };
  const due = (keyId: string) => audit({ ...NOBODY, action: 'keys_rotated', keyId, reason: 'due' });
  const fingerprint = configFingerprint(opened.secret);
  const reloads = createReloads({ log, audit, clock, fingerprint: fingerprint(loaded) });

  const close = async (): Promise<void> => {
    await usage.flush().catch((error: unknown) => log.error({ err: error }, 'what apps used last is lost'));
    opened.counters.close();
    await bus.close();
    await store.close();
    await accessLines?.close();
  };

  try {
    for (const warning of await check()) log.warn(warning);
    const keyring = await openKeyring(store, clock, keyLifetime, due);
    metrics.watch({ keyAge: () => unixSeconds(clock) - keyring.since() });
    if (config.store.kind === 'sqlite') {
      const { path } = config.store;
      metrics.watch({ storeBytes: () => bytesOf(path) });
    }
    metrics.watchCache('rate_limit_windows', opened.counters.held);
    return {
      ...opened,
      store,
      clock,
      log,
      keyring,
      usage,
      revocations: createRevocations(bus, log),
      carriedOver: carriedOver(),
      metrics,
      audit,
      denied: createDenials(audit, clock),
      reloads,
      fingerprint,
      unused,
      accessLines,
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
