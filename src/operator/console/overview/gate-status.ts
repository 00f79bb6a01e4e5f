import type { Keyring } from '../../../authorization-server/keyring.ts';
import type { EventsState } from '../../../events/state.ts';
import type { Health, HealthChecks } from '../../../operations/health.ts';
import type { ReloadState } from '../../../operations/reloads.ts';
import type { UpstreamState } from '../../../operations/state-metrics.ts';

/** Where the first page finds what it shows of the gate. Nothing of it waits for the store longer than a request may. */
export interface GateSources {
  readonly health: Pick<HealthChecks, 'ready'>;
  readonly store: {
    /** As named in the configuration. */
    readonly kind: string;
    /** Bytes on disk; undefined when the store is not a file of the gate. */
    readonly bytes: (() => Promise<number>) | undefined;
  };
  readonly keys: Pick<Keyring, 'list'>;
  readonly upstreams: () => readonly UpstreamStatus[];
  readonly reloads: () => ReloadState;
  readonly config: { readonly profile: string; readonly routes: number };
  /** Whether routes are observed instead of enforced. */
  readonly observing: boolean;
  /** Apps whose last connections all stayed unused. */
  readonly unusedApps: () => number;
  /** Undefined when the backend receives no events. Rejects while the store is down. */
  readonly events: () => Promise<EventsState | undefined>;
  /** Seconds since the process started. */
  readonly uptime: () => number;
}

export interface UpstreamStatus extends UpstreamState {
  readonly origin: string;
}

/** The gate at one moment. */
export interface GateStatus {
  readonly health: Health;
  readonly store: { readonly kind: string; readonly bytes: number | undefined };
  readonly keys: ReturnType<Keyring['list']>;
  readonly upstreams: readonly UpstreamStatus[];
  readonly reload: ReloadState;
  readonly config: GateSources['config'];
  readonly observing: boolean;
  readonly unusedApps: number;
  /** Undefined also when the store cannot say. */
  readonly events: EventsState | undefined;
  readonly uptime: number;
}

export async function gateStatus(sources: GateSources): Promise<GateStatus> {
  const [health, bytes, events] = await Promise.all([
    sources.health.ready(),
    sources.store.bytes?.(),
    // The store's failure is shown by its check.
    sources.events().catch(() => undefined),
  ]);
  return {
    health,
    store: { kind: sources.store.kind, bytes },
    keys: sources.keys.list(),
    upstreams: sources.upstreams(),
    reload: sources.reloads(),
    config: sources.config,
    observing: sources.observing,
    unusedApps: sources.unusedApps(),
    events,
    uptime: sources.uptime(),
  };
}
