import type { AdminOptions } from '../operations/admin.ts';
import type { HealthChecks } from '../operations/health.ts';
import type { CollectedMetrics } from '../operations/metrics-sum.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { UnusedTokens } from '../operations/unused-tokens.ts';
import type { SharedStore } from '../storage/shared.ts';

/** What a gate is given when it is one of several workers: what it shares with the others, and does not do by itself. */
export interface Seat {
  /** What the embedded store is shared by; undefined: its store is one that is shared anyway. */
  readonly storage: SharedStore | undefined;
  /** Who looks for unused tokens; undefined: the gate itself. */
  readonly unused: UnusedTokens | undefined;
  /** Whether this one sweeps the store now. */
  readonly sweeps: () => boolean;
  /** In: what this worker says of itself. Out: what the admin listener says, of all of them. */
  readonly together: (own: OwnAnswers) => Pick<AdminOptions, 'health' | 'metrics' | 'observer'>;
}

export interface OwnAnswers {
  readonly health: HealthChecks;
  readonly metrics: () => Promise<CollectedMetrics>;
  readonly observer: Observer | undefined;
}
