import type { EventEmitter } from 'node:events';

const WAITING = Symbol('what waits for the end');

type Waiting = { [WAITING]?: (() => void)[] };

/**
 * Calls `work` once when a response or a socket closes, in the order of registration. Half a dozen modules wait for the
 * end of every request, and one shared listener costs a fraction of separate ones.
 */
export function whenClosed(closing: EventEmitter, work: () => void): void {
  const own = closing as Waiting;
  const waiting = own[WAITING];
  if (waiting !== undefined) {
    waiting.push(work);
    return;
  }
  const all = [work];
  own[WAITING] = all;
  closing.on('close', () => {
    for (let at = 0; at < all.length; at += 1) all[at]?.();
    all.length = 0;
  });
}

/** Counts what one caller has open, until it closes. */
export function countUntilClosed(counts: Map<string, number>, whose: string, opened: EventEmitter): void {
  counts.set(whose, (counts.get(whose) ?? 0) + 1);
  whenClosed(opened, () => {
    const left = (counts.get(whose) ?? 0) - 1;
    if (left > 0) counts.set(whose, left);
    else counts.delete(whose);
  });
}
