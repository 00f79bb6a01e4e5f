import type { Log } from '../operations/log.ts';
import type { Clock } from '../storage/store.ts';
import type { DeliveryState, storedDeliveryState } from './delivery-state.ts';
import type { Lease } from './lease.ts';
import { CLASSES, type EventClass, type EventQueue, type QueuedEvent } from './queue.ts';
import { waitForBackend, waitForEvent } from './schedule.ts';
import type { Send } from './send.ts';

export interface DelivererOptions {
  readonly queue: EventQueue;
  readonly lease: Lease;
  readonly states: ReturnType<typeof storedDeliveryState>;
  readonly send: Send;
  /** Timeout of one call, in seconds. */
  readonly timeout: number;
  /** Seconds after which an event is dropped. */
  readonly maxAge: number;
  readonly maxPending: number;
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly told: EventCounts;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Counts the outcome of deliveries, for the metrics. */
export interface EventCounts {
  delivered(type: string): void;
  /** A failed attempt. `reason` is a status or a failure code. */
  failed(reason: string): void;
  dropped(type: string, why: 'full' | 'old'): void;
}

/** The pending events, as of the last turn. */
export interface Waiting {
  readonly events: Readonly<Record<EventClass, number>>;
  /** Milliseconds since the epoch; undefined when nothing is pending. */
  readonly oldestAt: number | undefined;
  readonly stopped: boolean;
}

export interface Deliverer {
  /**
   * Sends the events that are due, unless another replica is sending. Resolves to whether more are due right now.
   * Throws `store_unavailable`.
   */
  turn(): Promise<boolean>;
  waiting(): Waiting;
  /** Makes all events due at once, even after the backend answered 410. Resolves to their number. */
  retry(): Promise<number>;
  /** Ends the current turn and aborts its call to the backend. */
  stop(): void;
}

const BATCH = 100;

/** Seconds that the lease must last beyond the timeout of a call. */
const MARGIN = 3;

/** How far another replica's clock may be behind, in slots. */
const SKEW = 2;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { queue, lease, states, send, timeout, maxPending, clock, random, told, log } = options;
  const maxAge = options.maxAge * 1000;
  let stopped = false;
  const leaving = new AbortController();
  let lookedThrough = 0;
  let found: Waiting = { events: { refusal: 0, client: 0, grant: 0 }, oldestAt: undefined, stopped: false };

  const giveUp = async (event: QueuedEvent, why: 'full' | 'old'): Promise<void> => {
    await queue.remove(event);
    told.dropped(event.type, why);
    const line = { event: event.type, id: event.id, happened_at: new Date(event.at).toISOString(), why };
    const { grant_id, member, client } = event.data as Record<string, unknown>;
    if (event.type.startsWith('grant.') || event.type.startsWith('consent.')) {
      const ids = { grant_id, member: (member as { id?: string } | undefined)?.id };
      log.error(
        { ...line, ...ids, client_id: (client as { id?: string }).id },
        'an event could not be delivered and is dropped',
      );
    } else log.warn(line, 'an event could not be delivered and is dropped');
  };

  const dropOld = async (): Promise<number> => {
    let dropped = 0;
    for (const of of CLASSES) {
      for (;;) {
        const old = (await queue.oldest(of, BATCH)).filter(({ at }) => at + maxAge <= clock());
        for (const event of old) await giveUp(event, 'old');
        dropped += old.length;
        if (old.length < BATCH) break;
      }
    }
    return dropped;
  };

  const dropExcess = async (excess: number): Promise<void> => {
    let left = excess;
    for (const of of CLASSES) {
      while (left > 0) {
        const oldest = await queue.oldest(of, Math.min(left, BATCH));
        if (oldest.length === 0) break;
        for (const event of oldest) await giveUp(event, 'full');
        left -= oldest.length;
      }
    }
  };

  /** Sends one event. Resolves to 'go' to continue, or to the new state when delivery has to stop. */
  const attempt = async (event: QueuedEvent, state: DeliveryState): Promise<DeliveryState | 'go'> => {
    const sent = await send(event, leaving.signal);
    const now = clock();
    // Aborted by `stop`.
    if (sent.kind === 'down' && leaving.signal.aborted) return state;
    if (sent.kind === 'taken') {
      await queue.remove(event);
      told.delivered(event.type);
      return 'go';
    }
    if (sent.kind === 'gone') {
      told.failed('410');
      log.error({ event: event.type }, GONE);
      return { ...state, stoppedAt: now, lastFailure: { at: now, reason: '410' } };
    }
    if (sent.kind === 'down') {
      const { reason, retryAfter } = sent;
      const failures = state.failures + 1;
      const wait = waitForBackend(failures, retryAfter, now, random());
      told.failed(reason);
      log.warn(
        { reason, seconds: Math.round(wait / 1000) },
        'event delivery is failing: events are kept and retried later',
      );
      return { ...state, failures, pausedUntil: now + wait, lastFailure: { at: now, reason } };
    }
    const { status, retryAfter } = sent;
    const attempts = event.attempts + 1;
    const dueAt = now + waitForEvent(attempts, retryAfter, now, random());
    told.failed(String(status));
    if (dueAt >= event.at + maxAge) await giveUp(event, 'old');
    else {
      log.warn({ event: event.type, id: event.id, status, attempts }, 'an event was not accepted: it is retried later');
      await queue.putOff({ ...event, attempts, dueAt }, queue.slotOf(dueAt));
    }
    return 'go';
  };

  /** Sends the earlier events of the lane first. If one of those is put off, this event is put off too. */
  const inOrder = async (event: QueuedEvent, state: DeliveryState): Promise<DeliveryState | 'go'> => {
    for (;;) {
      const lane = event.lane === undefined ? [event] : await queue.ofLane(event.lane);
      const [first] = lane;
      // Already sent, together with an earlier event of its lane.
      if (first === undefined || lane.every(({ id }) => id !== event.id)) return 'go';
      if (first.dueAt > clock()) {
        if (first.id !== event.id) await queue.putOff({ ...event, dueAt: first.dueAt }, queue.slotOf(first.dueAt));
        return 'go';
      }
      const outcome = await attempt(first, state);
      if (outcome !== 'go' || first.id === event.id) return outcome;
    }
  };

  const isDue = ({ dueAt }: QueuedEvent): boolean => dueAt <= clock();

  /** The first slot that may hold events. Events are only put into future slots, by any replica's clock. */
  const firstSlot = (state: DeliveryState): number => {
    const current = queue.slotOf(clock());
    return Math.min(current, Math.max(lookedThrough, state.slot ?? queue.slotOf(clock() - maxAge)));
  };

  const isAnyPutOffDue = async (state: DeliveryState): Promise<boolean> => {
    const current = queue.slotOf(clock());
    for (let slot = firstSlot(state); slot <= current; slot += 1) {
      if ((await queue.inSlot(slot)).some(isDue)) return true;
      lookedThrough = Math.max(lookedThrough, Math.min(slot, current - SKEW));
    }
    return false;
  };

  /** Sends up to BATCH events. Resolves to the new state, and whether more are due. */
  const deliver = async (before: DeliveryState, putOff: number): Promise<{ state: DeliveryState; more: boolean }> => {
    const current = queue.slotOf(clock());
    let slot = putOff === 0 ? current : firstSlot(before);
    let state = { ...before, slot };
    let left = BATCH;
    const sendAll = async (events: readonly QueuedEvent[]): Promise<'on' | 'over'> => {
      for (const event of events) {
        if (stopped || left === 0 || !(await lease.keep(timeout + MARGIN))) return 'over';
        left -= 1;
        const outcome = await inOrder(event, state);
        if (outcome !== 'go') {
          state = { ...outcome, slot };
          return 'over';
        }
        if (state.failures > 0) {
          log.info({}, 'event delivery works again');
          state = { failures: 0, pausedUntil: 0, slot };
        }
      }
      return 'on';
    };
    for (; slot <= current; slot += 1) {
      state = { ...state, slot };
      const due = (await queue.inSlot(slot)).filter(isDue).toSorted((a, b) => a.dueAt - b.dueAt);
      if ((await sendAll(due)) === 'over') return { state, more: left === 0 };
    }
    await sendAll(await queue.fresh(left));
    return { state, more: left === 0 };
  };

  const look = async () => {
    const { waiting, putOff } = await queue.counts();
    const total = CLASSES.reduce((sum, of) => sum + waiting[of], 0);
    const state = await states.load();
    const oldest = total === 0 ? [] : await Promise.all(CLASSES.map((of) => queue.oldest(of, 1)));
    const times = oldest.flatMap(([event]) => event?.at ?? []);
    const oldestAt = times.length === 0 ? undefined : Math.min(...times);
    const { stoppedAt, pausedUntil } = state;
    found = { events: waiting, oldestAt, stopped: stoppedAt !== undefined };
    return {
      state,
      putOff,
      fresh: total - putOff,
      excess: total - maxPending,
      tooOld: oldestAt !== undefined && oldestAt + maxAge <= clock(),
      resting: stoppedAt !== undefined || pausedUntil > clock(),
    };
  };

  const isWorthATurn = async ({ state, putOff, fresh, excess, tooOld, resting }: Awaited<ReturnType<typeof look>>) => {
    if (excess > 0 || tooOld) return true;
    return !resting && (fresh > 0 || (putOff > 0 && (await isAnyPutOffDue(state))));
  };

  return {
    async turn() {
      if (stopped || !(await isWorthATurn(await look())) || !(await lease.take())) return false;
      try {
        // Look again: another replica may have been sending until now.
        const { state, putOff, excess, tooOld, resting } = await look();
        const dropped = tooOld ? await dropOld() : 0;
        if (excess - dropped > 0) await dropExcess(excess - dropped);
        if (resting) return false;
        const { state: after, more } = await deliver(state, putOff);
        if (isWorthSaving(after, state, putOff)) await states.save(after);
        return more && !stopped;
      } finally {
        await lease.giveBack();
      }
    },

    waiting: () => found,

    async retry() {
      let count = 0;
      for (const of of CLASSES) {
        for (const event of await queue.oldest(of, maxPending)) {
          if (event.dueAt > 0) await queue.putOff({ ...event, dueAt: 0 }, undefined);
          count += 1;
        }
      }
      const { slot } = await states.load();
      await states.save({ failures: 0, pausedUntil: 0, slot });
      return count;
    },

    stop() {
      stopped = true;
      leaving.abort();
    },
  };
}

const GONE = 'the backend answered 410: delivery is stopped until you run `coursegate events retry --config FILE`';

/** A new `slot` alone is worth saving only while events are put off: it records which slots need no second look. */
function isWorthSaving(after: DeliveryState, before: DeliveryState, putOff: number): boolean {
  if (putOff > 0 && after.slot !== before.slot) return true;
  return JSON.stringify({ ...after, slot: 0 }) !== JSON.stringify({ ...before, slot: 0 });
}
