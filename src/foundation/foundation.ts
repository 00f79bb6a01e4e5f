// State that outlives a reload of the configuration: store, keys, counters, logs and metrics.

import { createHmac } from 'node:crypto';
import { createUsage, type Usage } from '../authorization-server/connected-apps/usage.ts';
import { type Keyring, openKeyring } from '../authorization-server/keyring.ts';
import { type CarriedOver, carriedOver } from '../config/carried-over.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { type Audit, createAudit } from '../operations/audit.ts';
import { createDenials } from '../operations/denials.ts';
import type { Log } from '../operations/log.ts';
import { createMetrics, type MetricSources, type Metrics } from '../operations/metrics.ts';
import { observedStore } from '../operations/observed-store.ts';
import { createTrafficMinutes, type TrafficMinutes } from '../operations/record/minutes.ts';
import { createRecorder, type Recorder } from '../operations/record/recorder.ts';
import { createTrail, type Trail } from '../operations/record/trail.ts';
import { createReloads, type Reloads } from '../operations/reloads.ts';
import { type UnusedTokens, unusedTokens } from '../operations/unused-tokens.ts';
import { deriveKey } from '../storage/seal.ts';
import { isSharedStore } from '../storage/sql/settings.ts';
import { bytesOf } from '../storage/sqlite/size.ts';
import { type Clock, unixSeconds } from '../storage/store.ts';
import { awaitStore, type StoreWait } from './await-store.ts';
import type { Ground, GroundOptions } from './ground.ts';
import { createRevocations, type Revocations } from './revocations.ts';

/** What lives as long as the process, independent of the configuration. */
export interface Foundation extends Omit<Ground, 'check' | 'bus' | 'release'> {
  readonly clock: Clock;
  readonly log: Log;
  /** The keys that sign ID tokens and assertions. */
  readonly keyring: Keyring;
  /** Counts what apps use, for the members. */
  readonly usage: Usage;
  /** The traffic of the last 24 hours, for the console. */
  readonly traffic: TrafficMinutes;
  /** Keeps audit lines for the console. */
  readonly trail: Trail;
  /** Records how apps try to connect. */
  readonly recorder: Recorder;
  /** Finds apps that receive tokens and never use them. */
  readonly unused: UnusedTokens;
  /** Tells this process and the other replicas of revocations. */
  readonly revocations: Revocations;
  /** State that one configuration passes to the next. */
  readonly carriedOver: CarriedOver;
  readonly metrics: Metrics;
  /** Writes an event to the audit log, and to everything that follows it. */
  readonly audit: Audit;
  /** Audits refusals. */
  readonly denied: (record: RequestRecord) => void;
  /** Reports what became of each reload. */
  readonly reloads: Reloads;
  /** Fingerprint of the configuration files. It is keyed, because they contain secrets. */
  readonly fingerprint: (loaded: Pick<LoadedConfig, 'sources'>) => string;
  /** Writes buffered data and releases all resources. */
  close(): Promise<void>;
}

/** `inFlight`, `upstreams` and `events` are for the metrics. */
export interface FoundationOptions
  extends Omit<GroundOptions, 'accessDescriptor'>,
    Pick<MetricSources, 'inFlight' | 'upstreams' | 'events'> {
  readonly ground: Ground;
  /** How long a key is used for signing, in seconds. */
  readonly keyLifetime: () => number;
  /** Whether the current configuration lets operators sign in to the console. */
  readonly hasConsole: () => boolean;
  /** Called if the store is not ready yet. Returns how to end what it has begun. */
  readonly storeAwaited: StoreWait['waiting'];
}

/** Rejects if the gate cannot start, for example because the store is unavailable; nothing is left open then. */
export async function openFoundation(options: FoundationOptions): Promise<Foundation> {
  const { loaded, log, clock, inFlight, keyLifetime, upstreams, events } = options;
  const { config } = loaded;
  const { check, bus, release: releaseGround, ...opened } = options.ground;
  const metrics = createMetrics({
    inFlight,
    droppedLines: () => opened.accessLines?.dropped() ?? 0,
    upstreams,
    events,
    clock,
    reloads: () => reloads.state(),
    unused: () => ({ connections: unused.connections(), apps: unused.apps().length }),
  });
  const store = observedStore(opened.store, metrics);
  const unused = unusedTokens({ store, replicas: isSharedStore(config.store.kind), clock, log });
  const written = createAudit(log, clock);
  const usage = createUsage(store, clock);
  const traffic = createTrafficMinutes({ metrics, store, clock, isKept: options.hasConsole });
  const trail = createTrail({ store, clock, log, isKept: options.hasConsole });
  const recorder = createRecorder(store, clock);
  const audit: Audit = (event) => {
    written(event);
    unused.audited(event);
    usage.audited(event);
    recorder.audited(event);
    metrics.audited(event);
    trail.audited(event);
  };
  const due = (keyId: string) => audit({ action: 'keys_rotated', keyId, reason: 'due' });
  const fingerprint = configFingerprint(opened.secret);
  const reloads = createReloads({ log, audit, clock, fingerprint: fingerprint(loaded) });

  const revocations = createRevocations(bus, log);
  const release = (): Promise<void> => {
    revocations.close();
    return releaseGround();
  };
  const close = async (): Promise<void> => {
    const last = (written: Promise<void>, lost: string) =>
      written.catch((error: unknown) => log.error({ err: error }, lost));
    await last(usage.flush(), 'what apps used last is lost');
    await last(traffic.end(), 'the last minutes of traffic are lost');
    await last(trail.flush(), 'the newest audit lines for the console are lost');
    await last(recorder.flush(), 'the last connection attempts are lost');
    await release();
  };

  try {
    for (const warning of await awaitStore(check, { log, waiting: options.storeAwaited })) log.warn(warning);
    const keyring = await openKeyring(store, clock, keyLifetime, due);
    metrics.watch({ keyAge: () => unixSeconds(clock) - keyring.since() });
    if (config.store.kind === 'sqlite') {
      const { path } = config.store;
      metrics.watch({ storeBytes: () => bytesOf(path) });
    }
    metrics.watchCache('rate_limit_windows', opened.counters.held);
    return {
      ...opened,
      ...{ store, clock, log, keyring, usage, traffic, trail, recorder, unused, metrics, audit, reloads, fingerprint },
      ...{ close, revocations },
      carriedOver: carriedOver(),
      denied: createDenials(audit, clock),
    };
  } catch (thrown) {
    // A gate that has not started has nothing to write.
    await release();
    throw thrown;
  }
}

/**
 * A keyed fingerprint of a configuration's files. Equal files give an equal fingerprint wherever the secret is the
 * same.
 */
export function configFingerprint(secret: string): (loaded: Pick<LoadedConfig, 'sources'>) => string {
  const key = deriveKey(secret, 'config-fingerprint');
  return ({ sources }) =>
    sources.fingerprint((digest) => createHmac('sha256', key).update(digest).digest('hex').slice(0, 16));
}
