import type { Delivery } from './delivery.ts';
import type { DeliveryState } from './delivery-state.ts';
import { drop } from './drop.ts';
import type { QueuedEvent } from './queue.ts';
import { waitForBackend, waitForEvent } from './schedule.ts';

/** The delivery goes on, or has to stop with this state. */
export type DeliveryOutcome = 'continue' | DeliveryState;

/**
 * Sends an event after the earlier events of its lane. If one of those is put off, this event is put off with it.
 * `signal` aborts the call to the backend. Throws `store_unavailable`.
 */
export async function attemptInOrder(
  delivery: Delivery,
  event: QueuedEvent,
  state: DeliveryState,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { queue, clock } = delivery;
  for (;;) {
    const lane = event.lane === undefined ? [event] : await queue.ofLane(event.lane);
    const [first] = lane;
    // Already sent, together with an earlier event of its lane.
    if (first === undefined || lane.every(({ id }) => id !== event.id)) return 'continue';
    if (first.dueAt > clock()) {
      if (first.id !== event.id) await queue.putOff({ ...event, dueAt: first.dueAt }, queue.slotOf(first.dueAt));
      return 'continue';
    }
    const outcome = await attempt(delivery, first, state, signal);
    if (outcome !== 'continue' || first.id === event.id) return outcome;
  }
}

async function attempt(
  delivery: Delivery,
  event: QueuedEvent,
  state: DeliveryState,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { queue, send, maxAge, clock, random, counts, log } = delivery;
  const sent = await send(event, signal);
  const now = clock();
  if (sent.kind === 'taken') {
    await queue.remove(event);
    counts.delivered(event.type);
    return 'continue';
  }
  if (sent.kind === 'gone') {
    counts.failed('410');
    log.error({ event: event.type }, GONE);
    return { ...state, stoppedAt: now, lastFailure: { at: now, reason: '410' } };
  }
  if (sent.kind === 'down') {
    if (signal.aborted) return state;
    const { reason, retryAfter } = sent;
    const failures = state.failures + 1;
    const wait = waitForBackend(failures, retryAfter, now, random());
    counts.failed(reason);
    const seconds = Math.round(wait / 1000);
    log.warn({ reason, seconds }, 'event delivery is failing: events are kept and retried later');
    return { ...state, failures, pausedUntil: now + wait, lastFailure: { at: now, reason } };
  }
  const { status, retryAfter } = sent;
  const attempts = event.attempts + 1;
  const dueAt = now + waitForEvent(attempts, retryAfter, now, random());
  counts.failed(String(status));
  if (dueAt >= event.at + maxAge) await drop(delivery, event, 'old');
  else {
    log.warn({ event: event.type, id: event.id, status, attempts }, 'an event was not accepted: it is retried later');
    await queue.putOff({ ...event, attempts, dueAt }, queue.slotOf(dueAt));
  }
  return 'continue';
}

const GONE = 'the backend answered 410: delivery is stopped until you run `coursegate events retry --config FILE`';
