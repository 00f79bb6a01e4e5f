import type { RevocationBus } from './bus.ts';
import type { Counters } from './counters.ts';
import type { Places } from './places.ts';

/** What the processes on one embedded store tell each other beside it: by way of the one that started them. */
export interface SharedStore {
  readonly bus: RevocationBus;
  readonly counters: Counters;
  readonly places: Places;
  /** Tells the others that nothing may be written any more. */
  readonly unwritable: (reason: string) => void;
  /** Told what another has found of the file. */
  readonly onIll: (listener: (illness: Illness) => void) => void;
}

/** Why a store's file takes no more writes, or may not be read either. */
export interface Illness {
  readonly kind: 'unwritable' | 'damaged';
  readonly reason: string;
}
