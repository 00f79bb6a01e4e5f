import type { EventEmitter } from 'node:events';

const WAITING = Symbol('what waits for the end');

/** A function, or an object in its place, so that no function has to be made for each response. */
type Work = (() => void) | { closed(): void };

type Waiting = EventEmitter & { [WAITING]?: Work[] };

/**
 * Calls `work` once when a response or a socket closes, in the order of registration. One shared listener costs a
 * fraction of separate ones.
 */
export function whenClosed(closing: EventEmitter, work: Work): void {
  const own: Waiting = closing;
  const waiting = own[WAITING];
  if (waiting !== undefined) {
    waiting.push(work);
    return;
  }
  own[WAITING] = [work];
  own.on('close', runAll);
}

function runAll(this: Waiting): void {
  const all = this[WAITING] ?? [];
  for (let at = 0; at < all.length; at += 1) {
    const work = all[at];
    if (typeof work === 'function') work();
    else work?.closed();
  }
  all.length = 0;
}

/** Counts what one caller has open, until it closes. */
export function countUntilClosed(counts: Map<string, number>, whose: string, opened: EventEmitter): void {
  addOpen(counts, whose);
  whenClosed(opened, () => removeOpen(counts, whose));
}

export function addOpen(counts: Map<string, number>, whose: string): void {
  counts.set(whose, (counts.get(whose) ?? 0) + 1);
}

export function removeOpen(counts: Map<string, number>, whose: string): void {
  const left = (counts.get(whose) ?? 0) - 1;
  if (left > 0) counts.set(whose, left);
  else counts.delete(whose);
}
