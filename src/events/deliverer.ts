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

/** Delivers the events of a queue, in turns. `turn` throws `store_unavailable`. */
export class Deliverer {
  readonly #delivery: Delivery;
  readonly #stopping = new AbortController();
  readonly #signal = this.#stopping.signal;
  #lookedThrough = 0;
  #found = NOTHING_PENDING;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  /** Sends the events that are due, unless another replica is sending. Resolves to whether more are due right now. */
  async turn(): Promise<boolean> {
    const { lease, states } = this.#delivery;
    if (this.#signal.aborted || !(await this.#isWorthATurn()) || !(await lease.take())) return false;
    try {
      // Look again: another replica may have been sending until now.
      const { state, putOff, excess, tooOld, resting } = await this.#look();
      const dropped = tooOld ? await dropOld(this.#delivery) : 0;
      if (excess - dropped > 0) await dropExcess(this.#delivery, excess - dropped);
      if (resting) return false;
      const { state: after, left } = await this.#deliver(state, putOff);
      if (isWorthSaving(after, state, putOff)) await states.save(after);
      return left === 0 && !this.#signal.aborted;
    } finally {
      await lease.giveBack();
    }
  }

  waiting(): WaitingEvents {
    return this.#found;
  }

  /** Ends the current turn and aborts its call to the backend. */
  stop(): void {
    this.#stopping.abort();
  }

  async #look(): Promise<Survey> {
    const survey = await surveyOf(this.#delivery);
    this.#found = survey.pending;
    return survey;
  }

  async #isWorthATurn(): Promise<boolean> {
    const { state, putOff, fresh, excess, tooOld, resting } = await this.#look();
    if (excess > 0 || tooOld) return true;
    return !resting && (fresh > 0 || (putOff > 0 && (await this.#isAnyPutOffDue(state))));
  }

  /** The first slot that may hold events. Events are only put into future slots, by any replica's clock. */
  #firstSlot(state: DeliveryState): number {
    const { queue, maxAge, clock } = this.#delivery;
    const current = queue.slotOf(clock());
    return Math.min(current, Math.max(this.#lookedThrough, state.slot ?? queue.slotOf(clock() - maxAge)));
  }

  async #isAnyPutOffDue(state: DeliveryState): Promise<boolean> {
    const { queue, clock } = this.#delivery;
    const current = queue.slotOf(clock());
    for (let slot = this.#firstSlot(state); slot <= current; slot += 1) {
      if ((await queue.inSlot(slot)).some(({ dueAt }) => dueAt <= clock())) return true;
      this.#lookedThrough = Math.max(this.#lookedThrough, Math.min(slot, current - SKEW));
    }
    return false;
  }

  /** Sends up to BATCH events: those that were put off, slot by slot, and then those that were never tried. */
  async #deliver(before: DeliveryState, putOff: number): Promise<Progress> {
    const { queue, clock } = this.#delivery;
    const current = queue.slotOf(clock());
    let progress: Progress = { state: before, left: BATCH, over: false };
    for (let slot = putOff === 0 ? current : this.#firstSlot(before); slot <= current; slot += 1) {
      const due = (await queue.inSlot(slot)).filter(({ dueAt }) => dueAt <= clock());
      const sorted = due.toSorted((a, b) => a.dueAt - b.dueAt);
      progress = await this.#sendAll(sorted, { ...progress, state: { ...progress.state, slot } });
      if (progress.over) return progress;
    }
    return this.#sendAll(await queue.fresh(progress.left), progress);
  }

  async #sendAll(events: readonly QueuedEvent[], { state: before, left: most }: Progress): Promise<Progress> {
    const { lease, timeout, log } = this.#delivery;
    let state = before;
    let left = most;
    for (const event of events) {
      if (this.#signal.aborted || left === 0 || !(await lease.keep(timeout + MARGIN)))
        return { state, left, over: true };
      left -= 1;
      const outcome = await attemptInOrder(this.#delivery, event, state, this.#signal);
      if (outcome !== 'continue') return { state: { ...outcome, slot: state.slot }, left, over: true };
      if (state.failures > 0) {
        log.info({}, 'event delivery works again');
        state = { failures: 0, pausedUntil: 0, slot: state.slot };
      }
    }
    return { state, left, over: false };
  }
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
