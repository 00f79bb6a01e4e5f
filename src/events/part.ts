import type { Controls } from '../actions/controls.ts';
import { describeClient } from '../authorization-server/event-client.ts';
import type { LoadedConfig } from '../config/load.ts';
import { GatewayError } from '../errors.ts';
import type { Foundation } from '../foundation/foundation.ts';
import type { GatePart } from '../generation/part.ts';
import { outsideRequests } from '../http/current-request.ts';
import type { AdminReply } from '../operations/admin.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { createDeliverer, NOTHING_PENDING, retryAll, type WaitingEvents } from './deliverer.ts';
import type { Delivery } from './delivery.ts';
import { storedDeliveryState } from './delivery-state.ts';
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
export interface EventsPart extends GatePart {
  readonly outbox: Outbox;
  /** Counts a refused request. */
  refused(refused: Refused): void;
  waiting(): WaitingEvents;
  /** Undefined without `events` in the configuration. Throws GatewayError `store_unavailable`. */
  state(): Promise<EventsState | undefined>;
  readonly control: Controls['events'];
}

/** Milliseconds until events queued by another replica are noticed. Events of this replica are sent after `AT_ONCE`. */
const LOOK_EVERY = 1000;
const AT_ONCE = 50;
const FLUSH_EVERY = 5000;
/** Seconds of the lease beyond the timeout of one call. */
const SPARE = 5;

const NOT_CONFIGURED: AdminReply = {
  status: 404,
  text: '`events` is not configured: nothing is sent to the backend',
};

const NO_EVENTS: EventsPart = {
  outbox: NO_OUTBOX,
  refused() {},
  waiting: () => NOTHING_PENDING,
  state: async () => undefined,
  control: {
    async retry() {
      throw new GatewayError('not_found', { message: '`events` is not configured: nothing is sent to the backend.' });
    },
  },
  admin: { '/events': () => NOT_CONFIGURED },
};

export function openEvents(
  { store, metrics, audit, clock, log }: Pick<Foundation, 'store' | 'metrics' | 'audit' | 'clock' | 'log'>,
  { config: { events: config, upstreams }, eventKeys: keys }: LoadedConfig,
  { call }: { readonly call: CallUpstream },
): EventsPart {
  if (config === undefined) return NO_EVENTS;
  const timeout = Math.ceil(upstreams[config.upstream]?.timeout ?? 0);
  const queue = eventQueue(store, clock, config.maxAge);
  const states = storedDeliveryState(store, `${config.upstream} ${config.path}`);
  const delivery: Delivery = {
    queue,
    lease: storedLease(store, clock, timeout + SPARE),
    states,
    send: eventSender(call, config, keys, clock),
    timeout,
    maxAge: config.maxAge * 1000,
    maxPending: config.maxPending,
    counts: metrics.events,
    random: Math.random,
    ...{ clock, log },
  };
  const deliverer = createDeliverer(delivery);

  let timers: NodeJS.Timeout[] = [];
  let soon: NodeJS.Timeout | undefined;
  const deliverAll = async (): Promise<void> => {
    while (await deliverer.turn());
  };
  /** Runs one turn at a time. The next one picks up events that arrive meanwhile. */
  const turn = oneAtATime(deliverAll, 'events could not be sent', log);
  const written = (): void => {
    if (soon !== undefined || timers.length === 0) return;
    // The event is stored by a commit that has not happened yet.
    const due = () => {
      soon = undefined;
      turn();
    };
    soon = outsideRequests(() => setTimeout(due, AT_ONCE).unref());
  };
  const outbox = queueOutbox(queue, written);
  const refusals = refusalCounts(store, outbox, clock, (clientId) => describeClient(store, clientId));
  const state = () => eventsState(config, queue, states.load, clock);

  return {
    outbox,
    refused: refusals.count,
    start() {
      const flush = oneAtATime(() => refusals.flush(), 'refusals could not be stored', log);
      timers = [setInterval(turn, LOOK_EVERY).unref(), setInterval(flush, FLUSH_EVERY).unref()];
      turn();
    },
    waiting: () => deliverer.waiting(),

    state,

    control: {
      async retry(decision) {
        const pending = await retryAll(delivery);
        turn();
        audit({ action: 'events_retried', ...decision });
        return { pending };
      },
    },

    admin: { '/events': async () => ({ json: await state() }) },

    // Undelivered events stay in the store.
    async stop() {
      for (const timer of timers) clearInterval(timer);
      timers = [];
      clearTimeout(soon);
      deliverer.stop();
      await turn.over();
      await refusals.flush(true).catch((error: unknown) => log.error({ err: error }, 'refusals are lost'));
    },
  };
}
