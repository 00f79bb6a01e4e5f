import { attemptInOrder } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryState } from './delivery-state.ts';
import { dropExcess, dropOld } from './drop.ts';
import { CLASSES, type QueuedEvent } from './queue.ts';

/** The pending events, as of the last turn. `oldestAt` is in milliseconds since the epoch. */
export type WaitingEvents = Survey['pending'];

export const NOTHING_PENDING: WaitingEvents = {
  events: { refusal: 0, client: 0, grant: 0 },
  oldestAt: undefined,
  stopped: false,
};

const BATCH = 100;

/** Seconds that the lease must last beyond the timeout of a call. */
const MARGIN = 3;

/** How far another replica's clock may be behind, in slots. */
const SKEW = 2;

type Progress = { readonly state: DeliveryState; readonly left: number; readonly over: boolean };

/** The state of the delivery and of the queue, at the beginning of a turn. */
type Survey = Awaited<ReturnType<typeof surveyOf>>;

/** Delivers the events of a queue, in turns. */
export function createDeliverer(delivery: Delivery) {
  const { queue, lease, states, timeout, maxAge, clock, log } = delivery;
  const stopping = new AbortController();
  const { signal } = stopping;
  let lookedThrough = 0;
  let found = NOTHING_PENDING;
  const look = async (): Promise<Survey> => {
    const survey = await surveyOf(delivery);
    found = survey.pending;
    return survey;
  };
  const isWorthATurn = async (): Promise<boolean> => {
    const { state, putOff, fresh, excess, tooOld, resting } = await look();
    if (excess > 0 || tooOld) return true;
    return !resting && (fresh > 0 || (putOff > 0 && (await isAnyPutOffDue(state))));
  };
  /** The first slot that may hold events. Events are only put into future slots, by any replica's clock. */
  const firstSlot = ({ slot = queue.slotOf(clock() - maxAge) }: DeliveryState): number =>
    Math.min(queue.slotOf(clock()), Math.max(lookedThrough, slot));
  const isAnyPutOffDue = async (state: DeliveryState): Promise<boolean> => {
    const current = queue.slotOf(clock());
    for (let slot = firstSlot(state); slot <= current; slot += 1) {
      if ((await queue.inSlot(slot)).some(({ dueAt }) => dueAt <= clock())) return true;
      lookedThrough = Math.max(lookedThrough, Math.min(slot, current - SKEW));
    }
    return false;
  };
  /** Sends up to BATCH events: those that were put off, slot by slot, and then those that were never tried. */
  const deliver = async (before: DeliveryState, putOff: number): Promise<Progress> => {
    const current = queue.slotOf(clock());
    let progress: Progress = { state: before, left: BATCH, over: false };
    for (let slot = putOff === 0 ? current : firstSlot(before); slot <= current; slot += 1) {
      const due = (await queue.inSlot(slot)).filter(({ dueAt }) => dueAt <= clock());
      const sorted = due.toSorted((a, b) => a.dueAt - b.dueAt);
      progress = await sendAll(sorted, { ...progress, state: { ...progress.state, slot } });
      if (progress.over) return progress;
    }
    return sendAll(await queue.fresh(progress.left), progress);
  };
  const sendAll = async (
    events: readonly QueuedEvent[],
    { state: before, left: most }: Progress,
  ): Promise<Progress> => {
    let state = before;
    let left = most;
    for (const event of events) {
      if (signal.aborted || left === 0 || !(await lease.keep(timeout + MARGIN))) return { state, left, over: true };
      left -= 1;
      const outcome = await attemptInOrder(delivery, event, state, signal);
      if (outcome !== 'continue') return { state: { ...outcome, slot: state.slot }, left, over: true };
      if (state.failures > 0) {
        log.info({}, 'event delivery works again');
        state = { failures: 0, pausedUntil: 0, slot: state.slot };
      }
    }
    return { state, left, over: false };
  };
  return {
    /**
     * Sends the events that are due, unless another replica is sending. Resolves to whether more are due right now.
     * Throws `store_unavailable`.
     */
    async turn(): Promise<boolean> {
      if (signal.aborted || !(await isWorthATurn()) || !(await lease.take())) return false;
      try {
        // Look again: another replica may have been sending until now.
        const { state, putOff, excess, tooOld, resting } = await look();
        const dropped = tooOld ? await dropOld(delivery) : 0;
        await dropExcess(delivery, excess - dropped);
        if (resting) return false;
        const { state: after, left } = await deliver(state, putOff);
        if (isWorthSaving(after, state, putOff)) await states.save(after);
        return left === 0 && !signal.aborted;
      } finally {
        await lease.giveBack();
      }
    },
    waiting: (): WaitingEvents => found,
    /** Ends the current turn and aborts its call to the backend. */
    stop: (): void => stopping.abort(),
  };
}

/** A new `slot` alone is worth saving only while events are put off: it records which slots need no second look. */
function isWorthSaving(after: DeliveryState, before: DeliveryState, putOff: number): boolean {
  if (putOff > 0 && after.slot !== before.slot) return true;
  return JSON.stringify({ ...after, slot: 0 }) !== JSON.stringify({ ...before, slot: 0 });
}

/** Makes all events due at once, even after the backend answered 410. Resolves to their number. */
export async function retryAll({ queue, states, maxPending }: Delivery): Promise<number> {
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
}

async function surveyOf({ queue, states, maxAge, maxPending, clock }: Delivery) {
  const { waiting, putOff } = await queue.counts();
  const total = CLASSES.reduce((sum, of) => sum + waiting[of], 0);
  const state = await states.load();
  const oldest = total === 0 ? [] : await Promise.all(CLASSES.map((of) => queue.oldest(of, 1)));
  const [oldestAt] = oldest.flatMap(([event]) => event?.at ?? []).sort((a, b) => a - b);
  const { stoppedAt, pausedUntil } = state;
  return {
    state,
    pending: { events: waiting, oldestAt, stopped: stoppedAt !== undefined },
    putOff,
    fresh: total - putOff,
    excess: total - maxPending,
    tooOld: oldestAt !== undefined && oldestAt + maxAge <= clock(),
    resting: stoppedAt !== undefined || pausedUntil > clock(),
  };
}
