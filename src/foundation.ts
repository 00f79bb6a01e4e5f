import { type Keyring, openKeyring } from './authorization-server/keyring.ts';
import type { LoadedConfig } from './config/load.ts';
import { type Audit, createAudit } from './operations/audit.ts';
import { createDenials } from './operations/denials.ts';
import { createLineWriter, type LineWriter } from './operations/line-writer.ts';
import type { Log } from './operations/log.ts';
import { createMetrics, type Metrics, type MetricsOptions } from './operations/metrics.ts';
import { observedStore } from './operations/observed-store.ts';
import { type UnusedTokens, unusedTokens } from './operations/unused-tokens.ts';
import { type OpenedStore, openStore } from './storage/open.ts';
import type { Clock } from './storage/store.ts';

/** What lives as long as the process, whatever the configuration says meanwhile: all that remembers or is counted. */
export interface Foundation extends Pick<OpenedStore, 'store' | 'secret' | 'bus' | 'counters' | 'probe'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly audit: Audit;
  /** Tells the audit of whom the gate refuses. */
  readonly denied: ReturnType<typeof createDenials>;
  readonly unused: UnusedTokens;
  /** Where the lines of the access log go; undefined: none is kept. */
  readonly accessLines: LineWriter | undefined;
  /** Writes what is left, and lets go of everything. */
  close(): Promise<void>;
}

export interface FoundationOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** The file descriptor the access log goes to, if the configuration asks for one; undefined: nowhere. */
  readonly accessDescriptor: number | undefined;
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
  const { loaded, log, clock, accessDescriptor, upstreams, events } = options;
  const { config } = loaded;
  const { check, ...opened } = openStore(config.store, loaded, clock, (kind, err) =>
    log.error({ kind, err }, 'an entry of the store is damaged, and counts as absent'),
  );
  const accessLines =
    config.log.access && accessDescriptor !== undefined
      ? createLineWriter(accessDescriptor, (error) => log.error({ err: error }, 'the access log cannot be written'))
      : undefined;
  const metrics = createMetrics({
    droppedLines: () => accessLines?.dropped() ?? 0,
    upstreams,
    events,
    clock,
    unused: () => ({ connections: unused.connections(), apps: unused.apps() }),
  });
  const store = observedStore(opened.store, metrics.storeFailed);
  const unused = unusedTokens({ store, replicas: config.store.kind === 'redis', clock, log });
  const written = createAudit(log, clock);
  const audit: Audit = (event) => {
    written(event);
    unused.heard(event);
  };
  const rotated = (keyId: string, reason: string) => audit({ ...NOBODY, action: 'keys_rotated', keyId, reason });

  const close = async (): Promise<void> => {
    opened.counters.close();
    await opened.bus.close();
    await store.close();
    await accessLines?.close();
  };

  try {
    for (const warning of await check()) log.warn(warning);
    return {
      ...opened,
      store,
      clock,
      log,
      keyring: await openKeyring(store, clock, config.keys.rotate, rotated),
      metrics,
      audit,
      denied: createDenials(audit, clock),
      unused,
      accessLines,
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
