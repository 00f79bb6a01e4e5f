import { jsonEntry, readJson, type Store } from '../storage/store.ts';

const KIND = 'EventDelivery';
const ID = 'state';

/** The state of the delivery, shared by all replicas. Times are milliseconds since the epoch. */
export interface DeliveryState {
  /** Consecutive calls that the backend did not answer. */
  readonly failures: number;
  /** Nothing is sent before this time. */
  readonly pausedUntil: number;
  /** When the backend answered 410. Nothing is sent until an operator retries. */
  readonly stoppedAt?: number | undefined;
  readonly lastFailure?: { readonly at: number; readonly reason: string } | undefined;
  /** The first slot that may hold events; undefined when unknown. */
  readonly slot?: number | undefined;
}

const WELL: DeliveryState = { failures: 0, pausedUntil: 0 };

/** `endpoint` is where events are sent. The state of a different endpoint is discarded. */
export function storedDeliveryState(store: Store, endpoint: string) {
  return {
    async load(): Promise<DeliveryState> {
      const stored = await readJson<DeliveryState & { readonly endpoint: string }>(store, KIND, ID);
      if (stored === undefined) return WELL;
      const { endpoint: of, ...state } = stored;
      return of === endpoint ? state : { ...WELL, slot: state.slot };
    },
    async save(state: DeliveryState): Promise<void> {
      await store.commit([{ op: 'put', entry: jsonEntry(KIND, ID, { ...state, endpoint }, undefined) }], 'vital');
    },
  };
}
