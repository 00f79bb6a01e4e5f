import { GatewayError } from '../errors.ts';
import { ROUTE_LABELS } from '../http/request-record.ts';
import type { ObservedRefusal } from '../operations/observe/observations.ts';
import type { Incoming } from './incoming.ts';
import type { RequestParts } from './parts.ts';
import type { Route } from './route.ts';

/**
 * Passes a request to the legacy site, as if the gate were not there. `refusal` is what enforcement would have answered
 * instead, and `route` the route it would have answered for. Throws GatewayError `not_found` when there is no site.
 */
export function toSite(
  { site, observing }: RequestParts,
  { request, response, target, record }: Incoming,
  refusal: ObservedRefusal,
  route?: Route,
): Promise<void> {
  if (site === undefined) throw new GatewayError('not_found');
  if (route === undefined) record.route = ROUTE_LABELS.site;
  record.outcome = 'site';
  observing?.observer.watch(request, response, record, { route: route?.entry, refusal });
  const ownFields = ['x-request-id', record.provenance.requestId];
  return site.handle(request, response, target, record, ownFields, refusal === 'unknown_token');
}
