import type { Store } from '../storage/store.ts';

const KIND = 'EventDelivery';
const ID = 'state';

/** How the backend has been doing, for whichever replica sends next. Times in milliseconds since the epoch. */
export interface DeliveryState {
  /** How often in a row it did not answer. */
  readonly failures: number;
  /** Nothing is sent before. */
  readonly pausedUntil: number;
  /** It wants no events any more, until an operator says otherwise. */
  readonly stoppedAt?: number | undefined;
  readonly lastFailure?: { readonly at: number; readonly reason: string } | undefined;
  /** The first slot that may hold something; undefined: nobody knows. */
  readonly slot?: number | undefined;
}

const WELL: DeliveryState = { failures: 0, pausedUntil: 0 };

/** In: where events go. What another address did is not held against this one. */
export function storedDeliveryState(store: Store, endpoint: string) {
  return {
    async load(): Promise<DeliveryState> {
      const entry = await store.get(KIND, ID);
      if (entry === undefined) return WELL;
      const { endpoint: of, ...state } = JSON.parse(entry.payload) as DeliveryState & { readonly endpoint: string };
      return of === endpoint ? state : { ...WELL, slot: state.slot };
    },
    async save(state: DeliveryState): Promise<void> {
      const payload = JSON.stringify({ ...state, endpoint });
      const entry = { kind: KIND, id: ID, payload, expiresAt: undefined, references: {} };
      await store.commit([{ op: 'put', entry }], 'vital');
    },
  };
}
