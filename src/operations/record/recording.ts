import type { Clock, Store } from '../../storage/store.ts';

/** What records for the console are kept with. */
export interface Recording {
  readonly store: Store;
  readonly clock: Clock;
  /** Whether the console can be opened; without it, nothing is kept. */
  readonly isKept?: () => boolean;
}
