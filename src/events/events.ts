import type { EventsConfig } from '../config/events.ts';
import type { Log } from '../operations/log.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { Clock, Store } from '../storage/store.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { createDeliverer, type EventCounts, type Waiting } from './deliverer.ts';
import { storedDeliveryState } from './delivery-state.ts';
import type { EventClient } from './event.ts';
import { storedLease } from './lease.ts';
import { NO_OUTBOX, type Outbox, queueOutbox } from './outbox.ts';
import { CLASSES, eventQueue } from './queue.ts';
import { type Refused, refusalCounts } from './refusals.ts';
import { eventSender } from './send.ts';

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
  waiting(): Waiting;
  /** The delivery state and the pending events without their data, for the operator; undefined without `events`. */
  state(): Promise<EventsState | undefined>;
  /** Makes all pending events due at once. Resolves to their number. */
  retry(): Promise<number>;
  /** Stops the delivery. Undelivered events stay in the store. */
  close(): Promise<void>;
}
// `state` and `retry` throw GatewayError `store_unavailable`.

interface EventsState {
  readonly upstream: string;
  readonly path: string;
  readonly types: readonly string[];
  readonly pending: Readonly<Record<string, number>>;
  readonly paused_until?: string;
  readonly stopped_at?: string;
  readonly last_failure?: { readonly at: string; readonly reason: string };
  /** Oldest first, at most `LISTED`. */
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly timestamp: string;
    readonly attempts: number;
    readonly due_at?: string;
  }[];
}

export interface EventsOptions {
  /** Undefined when no events are sent. */
  readonly config: EventsConfig | undefined;
  readonly keys: readonly Buffer[];
  /** Timeout of one call to the upstream, in seconds. */
  readonly timeout: number;
  readonly store: Store;
  readonly call: CallUpstream;
  readonly describe: (clientId: string) => Promise<EventClient>;
  readonly told: EventCounts;
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
const LISTED = 100;

const NOTHING: Waiting = { events: { refusal: 0, client: 0, grant: 0 }, oldestAt: undefined, stopped: false };

const NO_EVENTS: Events = {
  outbox: NO_OUTBOX,
  refused() {},
  start() {},
  waiting: () => NOTHING,
  state: async () => undefined,
  retry: async () => 0,
  async close() {},
};

export function createEvents(options: EventsOptions): Events {
  const { config, keys, timeout, store, call, describe, told, clock, random = Math.random, log } = options;
  if (config === undefined) return NO_EVENTS;
  const queue = eventQueue(store, clock, config.maxAge);
  const states = storedDeliveryState(store, `${config.upstream} ${config.path}`);
  const deliverer = createDeliverer({
    queue,
    lease: storedLease(store, clock, Math.ceil(timeout) + SPARE),
    states,
    send: eventSender({ call, to: { upstream: config.upstream, path: config.path }, keys, clock }),
    timeout: Math.ceil(timeout),
    maxAge: config.maxAge,
    maxPending: config.maxPending,
    clock,
    random,
    told,
    log,
  });

  let timers: NodeJS.Timeout[] = [];
  let soon: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const take = async (): Promise<void> => {
    while (await deliverer.turn());
  };
  /** Runs one turn at a time. The next one picks up events that arrive meanwhile. */
  const turn = oneAtATime(
    () => {
      running = take();
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
  const outbox = queueOutbox(config.types, queue, written);
  const refusals = refusalCounts({ store, outbox, clock, describe });

  return {
    outbox,
    refused: refusals.count,
    start() {
      const flush = oneAtATime(() => refusals.flush(), 'refusals could not be stored', log);
      timers = [setInterval(turn, LOOK_EVERY).unref(), setInterval(flush, FLUSH_EVERY).unref()];
      turn();
    },
    waiting: deliverer.waiting,

    async state() {
      const { upstream, path, types } = config;
      const [{ waiting }, { stoppedAt, pausedUntil, lastFailure }, ...listed] = await Promise.all([
        queue.counts(),
        states.load(),
        ...CLASSES.toReversed().map((of) => queue.oldest(of, LISTED)),
      ]);
      return {
        upstream,
        path,
        types,
        pending: waiting,
        ...(pausedUntil > clock() ? { paused_until: isoTime(pausedUntil) } : {}),
        ...(stoppedAt === undefined ? {} : { stopped_at: isoTime(stoppedAt) }),
        ...(lastFailure === undefined
          ? {}
          : { last_failure: { at: isoTime(lastFailure.at), reason: lastFailure.reason } }),
        events: listed
          .flat()
          .slice(0, LISTED)
          .map(({ id, type, at, attempts, dueAt }) => ({
            id,
            type,
            timestamp: isoTime(at),
            attempts,
            ...(dueAt === 0 ? {} : { due_at: isoTime(dueAt) }),
          })),
      };
    },

    async retry() {
      const count = await deliverer.retry();
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

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
