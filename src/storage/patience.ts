import { AsyncLocalStorage } from 'node:async_hooks';

/** Milliseconds: with the work around it, a request learns within a second that the store does not answer. */
export const PATIENCE = 800;

interface Budget {
  /** Milliseconds that are left. */
  left: number;
  /** How many waits overlap now, and since when: time is spent once, however many wait. */
  waiting: number;
  since: number;
}

const budgets = new AsyncLocalStorage<Budget>();

const fresh = (): Budget => ({ left: PATIENCE, waiting: 0, since: 0 });

/** Runs one request: all that it asks of the store shares one PATIENCE. A slow store is asked many times in a request. */
export function withPatience<T>(request: () => T): T {
  return budgets.run(fresh(), request);
}

/**
 * Waits for `work`, at most for what is left of the request's patience; outside of a request that is all of it.
 * In: work, which may ask how many milliseconds are left. Rejects with what it rejects with, or with an Error that says it
 * took too long.
 */
export async function inTime<T>(work: (left: () => number) => Promise<T>): Promise<T> {
  const budget = budgets.getStore() ?? fresh();
  const left = () => budget.left - (performance.now() - budget.since);
  if (budget.waiting === 0) budget.since = performance.now();
  budget.waiting += 1;
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the store took too long')), Math.max(0, left()));
  });
  try {
    if (left() <= 0) return await overdue;
    return await Promise.race([work(left), overdue]);
  } finally {
    clearTimeout(timer);
    budget.waiting -= 1;
    if (budget.waiting === 0) budget.left = left();
  }
}
