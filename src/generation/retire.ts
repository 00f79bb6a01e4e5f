import { setTimeout as sleep } from 'node:timers/promises';
import type { InFlight } from '../request/in-flight.ts';
import type { Site } from '../upstream/site.ts';

/** Milliseconds in which the end of cut-off responses may still reach clients before everything is closed. */
const CLOSE_GRACE_MS = 1_000;
/** The longest delay that a timer supports, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface RetireParts {
  /** Ends the background work of the parts. */
  readonly stop: () => Promise<unknown>;
  readonly inFlight: InFlight;
  readonly site: Site | undefined;
  readonly close: () => Promise<void>;
}

/**
 * Lets requests in flight finish for up to `seconds`, or until the signal aborts; then ends them and closes
 * everything.
 */
export async function retire(
  { stop, inFlight, site, close }: RetireParts,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  // From now on the next generation delivers events, with its own keys and to its own addresses.
  const stopped = stop();
  const { promise: timeUp, resolve: endNow } = Promise.withResolvers<void>();
  const timer = setTimeout(endNow, Math.min(seconds * 1000, LONGEST_TIMER)).unref();
  signal.addEventListener('abort', () => endNow(), { once: true });
  if (signal.aborted) endNow();
  const ended = timeUp.then(() => {
    inFlight.endAnswers();
    site?.hangUp();
    return sleep(CLOSE_GRACE_MS);
  });
  await Promise.race([inFlight.over(), ended]);
  clearTimeout(timer);
  await stopped;
  await close();
}
