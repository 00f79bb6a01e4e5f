import type { Log } from '../operations/log.ts';
import type { Clock } from '../storage/store.ts';
import type { storedDeliveryState } from './delivery-state.ts';
import type { Lease } from './lease.ts';
import type { EventQueue } from './queue.ts';
import type { SendMessage } from './send.ts';

/** Why an event was given up: too many were waiting, or it was too old. */
export type DropReason = 'full' | 'old';

/** What the delivery of events works with. One try to send one of them is an attempt. */
export interface Delivery {
  readonly queue: EventQueue;
  /** Only the replica that holds it delivers. */
  readonly lease: Lease;
  readonly states: ReturnType<typeof storedDeliveryState>;
  readonly send: SendMessage;
  /** Seconds that one attempt may take. */
  readonly timeout: number;
  /** Milliseconds after which an event is dropped. */
  readonly maxAge: number;
  readonly maxPending: number;
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** For the metrics. */
  readonly counts: {
    delivered(type: string): void;
    /** A failed attempt. `reason` is a status or a failure code. */
    failed(reason: string): void;
    dropped(type: string, why: DropReason): void;
  };
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}
