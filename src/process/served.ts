import type { LoadedConfig } from '../config/load.ts';
import type { SourceFiles } from '../config/source-files.ts';
import type { Ground } from '../foundation/ground.ts';
import type { RequestsInFlight } from '../http/requests-in-flight.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Store } from '../storage/store.ts';
import type { GateParts, OpenGate } from './gate.ts';
import type { ListenerHandlers, Listeners } from './listeners.ts';
import type { Reload } from './reload.ts';

/** Files that the configuration names elsewhere. */
export interface FurtherSources extends Pick<SourceFiles, 'areUnchanged'> {
  asked(): Promise<ReturnType<SourceFiles['asked']>>;
}

/** What is served is made of. */
export interface ServedParts extends GateParts {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly inFlight: RequestsInFlight;
  readonly ground: Promise<Ground>;
  readonly idle: number | undefined;
}

/** What the listeners serve: one gate, or those of many schools. */
export interface ServedGates {
  readonly loaded: () => LoadedConfig;
  readonly store: Pick<Store, 'sweep' | 'compact'>;
  readonly metrics: Pick<Metrics, 'loopBlocked'>;
  readonly handlers: ListenerHandlers;
  /** Those that are open. */
  readonly gates: () => Iterable<OpenGate>;
  readonly reloadWith: (listeners: Listeners) => (load: () => Promise<LoadedConfig>) => Promise<Reload>;
  /** Files beside those of the configuration whose change is a reload. */
  readonly sources?: FurtherSources;
  /** Closes everything immediately. */
  close(): Promise<void>;
}
