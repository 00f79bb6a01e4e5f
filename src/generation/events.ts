import { describeClient } from '../authorization-server/event-client.ts';
import type { LoadedConfig } from '../config/load.ts';
import { createEvents, type Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Audit } from '../operations/audit.ts';
import type { CallUpstream } from '../upstream/request.ts';

/** Creates event delivery to the backend from the configuration. */
export function openEvents(
  { config, eventKeys }: LoadedConfig,
  { foundation, call }: { readonly foundation: Foundation; readonly call: CallUpstream },
): Events {
  const { store, clock, metrics, log } = foundation;
  const upstream = config.events && config.upstreams[config.events.upstream];
  return createEvents({
    config: config.events,
    keys: eventKeys,
    timeout: upstream?.timeout ?? 0,
    store,
    call,
    describe: (clientId) => describeClient(store, clientId),
    counts: metrics.events,
    clock,
    log,
  });
}

/** Wraps an audit to count refusals for the backend as well. */
export function countingRefusals(audit: Audit, events: Pick<Events, 'refused'>): Audit {
  return (event) => {
    audit(event);
    const { action, outcome, clientId, member, grantId } = event;
    const whose = { clientId, member, grantId };
    if (outcome === 'refused') events.refused({ reason: 'insufficient_scope', ...whose });
    // When the limit of an address is exceeded, the app and the member are unknown.
    if (action === 'limit_tripped' && (clientId !== undefined || member !== undefined))
      events.refused({ reason: 'too_many_requests', ...whose });
  };
}

/**
 * Counts requests that the gate refused. A request without a token is not a refusal: that is how apps discover where
 * to get one.
 */
export function refusedAtGate(events: Pick<Events, 'refused'>, { reason, principal }: RequestRecord): void {
  if (reason === 'no_token') return;
  const known = principal?.kind === 'member' ? principal : undefined;
  events.refused({ reason, clientId: known?.clientId, member: known?.sub, grantId: known?.grantId });
}
