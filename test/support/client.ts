import { withinRequest } from '../../src/http/current-request.ts';

/** Runs `work` as part of a request from this client address. */
export function fromClient<T>(clientAddress: string, work: () => T): T {
  const provenance = {
    clientAddress,
    hops: clientAddress,
    trusted: false,
    requestId: 'test',
    traceId: () => '',
    traceFields: () => [],
  };
  return withinRequest({ provenance, userAgent: '' }, work);
}
