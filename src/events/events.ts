import type { EventsConfig } from '../config/events.ts';
import type { Log } from '../operations/log.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { Clock, Store } from '../storage/store.ts';
import type { CallUpstream } from '../upstream/request.ts';
import {
  Deliverer,
  type DelivererOptions,
  type EventCounts,
  NOTHING_PENDING,
  retryAll,
  type WaitingEvents,
} from './deliverer.ts';
import { storedDeliveryState } from './delivery-state.ts';
import type { EventClient } from './event.ts';
import { storedLease } from './lease.ts';
import { NO_OUTBOX, type Outbox, queueOutbox } from './outbox.ts';
import { eventQueue } from './queue.ts';
import { type Refused, refusalCounts } from './refusals.ts';
import { eventSender } from './send.ts';
import { type EventsState, eventsState } from './state.ts';

/**
 * This folder sends the backend signed webhooks about grants, clients and refusals. Events are stored in the commit of
 * the change that they describe, and delivered with retries by one replica at a time.
 */
export interface Events {
  readonly outbox: Outbox;
  /** Counts a refused request. */
  refused(refused: Refused): void;
  /** Starts the delivery. */
  start(): void;
  waiting(): WaitingEvents;
  /** Undefined without `events` in the configuration. */
  state(): Promise<EventsState | undefined>;
  /** Makes all pending events due at once. Resolves to their number. */
  retry(): Promise<number>;
  /** Stops the delivery. Undelivered events stay in the store. */
  close(): Promise<void>;
}
// `state` and `retry` throw GatewayError `store_unavailable`.

export interface EventsOptions {
  /** Undefined when no events are sent. */
  readonly config: EventsConfig | undefined;
  readonly keys: readonly Buffer[];
  /** Timeout of one call to the upstream, in seconds. */
  readonly timeout: number;
  readonly store: Store;
  readonly call: CallUpstream;
  readonly describe: (clientId: string) => Promise<EventClient>;
  readonly counts: EventCounts;
  readonly clock: Clock;
  readonly random?: () => number;
  readonly log: Log;
}

/** Milliseconds until events queued by another replica are noticed. Events of this replica are sent after `AT_ONCE`. */
const LOOK_EVERY = 1000;
const AT_ONCE = 50;
const FLUSH_EVERY = 5000;
/** Seconds of the lease beyond the timeout of one call. */
const SPARE = 5;

const NO_EVENTS: Events = {
  outbox: NO_OUTBOX,
  refused() {},
  start() {},
  waiting: () => NOTHING_PENDING,
  state: async () => undefined,
  retry: async () => 0,
  async close() {},
};

export function createEvents(options: EventsOptions): Events {
  const { config, keys, timeout, store, call, describe, counts, clock, random = Math.random, log } = options;
  if (config === undefined) return NO_EVENTS;
  const queue = eventQueue(store, clock, config.maxAge);
  const states = storedDeliveryState(store, `${config.upstream} ${config.path}`);
  const delivery: DelivererOptions = {
    queue,
    lease: storedLease(store, clock, Math.ceil(timeout) + SPARE),
    states,
    send: eventSender({ call, to: { upstream: config.upstream, path: config.path }, keys, clock }),
    timeout: Math.ceil(timeout),
    maxAge: config.maxAge * 1000,
    maxPending: config.maxPending,
    clock,
    random,
    counts,
    log,
  };
  const deliverer = new Deliverer(delivery);

  let timers: NodeJS.Timeout[] = [];
  let soon: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const deliverAll = async (): Promise<void> => {
    while (await deliverer.turn());
  };
  /** Runs one turn at a time. The next one picks up events that arrive meanwhile. */
  const turn = oneAtATime(
    () => {
      running = deliverAll();
      return running;
    },
    'events could not be sent',
    log,
  );
  const written = (): void => {
    if (soon !== undefined || timers.length === 0) return;
    // The event is stored by a commit that has not happened yet.
    soon = setTimeout(() => {
      soon = undefined;
      turn();
    }, AT_ONCE).unref();
  };
  const outbox = queueOutbox(queue, written);
  const refusals = refusalCounts({ store, outbox, clock, describe });

  return {
    outbox,
    refused: refusals.count,
    start() {
      const flush = oneAtATime(() => refusals.flush(), 'refusals could not be stored', log);
      timers = [setInterval(turn, LOOK_EVERY).unref(), setInterval(flush, FLUSH_EVERY).unref()];
      turn();
    },
    waiting: () => deliverer.waiting(),

    state: () => eventsState(config, queue, states.load, clock),

    async retry() {
      const count = await retryAll(delivery);
      turn();
      return count;
    },

    async close() {
      for (const timer of timers) clearInterval(timer);
      timers = [];
      clearTimeout(soon);
      deliverer.stop();
      await running?.catch(() => undefined);
      await refusals.flush(true).catch((error: unknown) => log.error({ err: error }, 'refusals are lost'));
    },
  };
}
