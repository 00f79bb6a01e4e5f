import type { Clock } from '../storage/store.ts';
import type { DeliveryState } from './delivery-state.ts';
import { CLASSES, type EventQueue } from './queue.ts';
import type { EventsConfig } from './settings.ts';

/** The delivery state and the pending events without their data, as the admin listener returns them. */
export type EventsState = Awaited<ReturnType<typeof eventsState>>;

const LISTED = 100;

/** Throws GatewayError `store_unavailable`. */
export async function eventsState(
  { upstream, path }: EventsConfig,
  queue: EventQueue,
  load: () => Promise<DeliveryState>,
  clock: Clock,
) {
  const [{ waiting }, { stoppedAt, pausedUntil, lastFailure }, ...listed] = await Promise.all([
    queue.counts(),
    load(),
    ...CLASSES.toReversed().map((of) => queue.oldest(of, LISTED)),
  ]);
  return {
    upstream,
    path,
    pending: waiting as Readonly<Record<string, number>>,
    ...(pausedUntil > clock() && { paused_until: isoTime(pausedUntil) }),
    ...(stoppedAt !== undefined && { stopped_at: isoTime(stoppedAt) }),
    ...(lastFailure !== undefined && { last_failure: { ...lastFailure, at: isoTime(lastFailure.at) } }),
    /** The most important class first, in each class the oldest first; at most `LISTED`. */
    events: listed
      .flat()
      .slice(0, LISTED)
      .map(({ id, type, at, attempts, dueAt }) => ({
        id,
        type,
        timestamp: isoTime(at),
        attempts,
        ...(dueAt > 0 && { due_at: isoTime(dueAt) }),
      })),
  };
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
