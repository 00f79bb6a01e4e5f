import { describeClient } from '../authorization-server/event-client.ts';
import type { LoadedConfig } from '../config/load.ts';
import { createEvents, type Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Audit } from '../operations/audit.ts';
import type { CallUpstream } from '../upstream/request.ts';

/** Events to the backend, as the configuration says. */
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
    told: metrics.events,
    clock,
    log,
  });
}

/** The same audit; what it hears of refusals is counted for the backend too. */
export function countingRefusals(audit: Audit, events: Pick<Events, 'refused'>): Audit {
  return (event) => {
    audit(event);
    const { action, outcome, clientId, member, grantId } = event;
    const whose = { clientId, member, grantId };
    if (outcome === 'refused') events.refused({ reason: 'insufficient_scope', ...whose });
    // Of a limit of an address nobody knows whose app it was.
    if (action === 'limit_tripped' && (clientId !== undefined || member !== undefined))
      events.refused({ reason: 'too_many_requests', ...whose });
  };
}

/** Counts what the gate refused. Without a token, an app asks where to get one: that is no refusal. */
export function refusedAtGate(events: Pick<Events, 'refused'>, { reason, principal }: RequestRecord): void {
  if (reason === 'no_token') return;
  const known = principal?.kind === 'member' ? principal : undefined;
  events.refused({ reason, clientId: known?.clientId, member: known?.sub, grantId: known?.grantId });
}
