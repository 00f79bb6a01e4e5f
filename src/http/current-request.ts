import { AsyncLocalStorage } from 'node:async_hooks';
import type { Provenance } from './provenance.ts';

/** What stays the same of a request for all that is done because of it. */
export interface CurrentRequest {
  readonly provenance: Provenance;
  /** As the client calls itself; '' when it does not. */
  readonly userAgent: string;
}

const requests = new AsyncLocalStorage<CurrentRequest>();

/** Runs what a request brings about: calls to upstreams name its trace, and what is told of it has its ids. */
export function withinRequest<T>(current: CurrentRequest, work: () => T): T {
  return requests.run(current, work);
}

/** Out: undefined for what no request asked for: upkeep, and what is fetched ahead. */
export function currentRequest(): CurrentRequest | undefined {
  return requests.getStore();
}
