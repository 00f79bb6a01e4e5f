import { currentRequest, type StoreBudget } from '../http/current-request.ts';

/** Timeout in milliseconds. With the work around it, a request fails within a second if the store does not respond. */
export const PATIENCE = 800;

const fresh = (): StoreBudget => ({ left: PATIENCE, waiting: 0, since: 0 });

/** All store calls of one request share one budget, because a request makes many of them. */
function budgetOfRequest(): StoreBudget | undefined {
  const request = currentRequest();
  if (request === undefined) return undefined;
  request.storeBudget ??= fresh();
  return request.storeBudget;
}

/**
 * Waits for `work` for at most the milliseconds that the current request has left; outside a request, for PATIENCE.
 * `work` can ask how many are left. Rejects as `work` does, or with an Error that says the store took too long.
 */
export async function inTime<T>(work: (left: () => number) => Promise<T>): Promise<T> {
  const budget = budgetOfRequest() ?? fresh();
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
