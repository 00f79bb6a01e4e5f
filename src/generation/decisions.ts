import type { LoadedConfig } from '../config/load.ts';
import type { Decisions } from '../decisions/decisions.ts';
import { GatewayError } from '../errors.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { createConnections } from '../http/connections.ts';
import { createProvenance } from '../http/provenance.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { RequestParts } from '../request/parts.ts';
import type { Route } from '../request/route.ts';
import type { IdentityFor } from '../upstream/identity.ts';
import { createRouting, type Routed } from '../upstream/routing.ts';

export interface DecisionsParts {
  readonly foundation: Pick<Foundation, 'log' | 'clock'>;
  readonly forRequests: Omit<RequestParts, 'connections'>;
  /** The routes of the public listener. */
  readonly routes: readonly Routed<Route>[];
  readonly identity: IdentityFor;
}

/** Builds what answers gateways; undefined if none may ask. */
export async function buildDecisions(
  { config, secrets }: LoadedConfig,
  { foundation, forRequests, routes, identity }: DecisionsParts,
): Promise<Decisions | undefined> {
  if (config.listen.decisions === undefined) return undefined;
  const { admitHandler } = await import('../decisions/admit.ts');
  const { createDecisions } = await import('../decisions/decisions.ts');
  const { gatewayFingerprint } = await import('../decisions/fingerprint.ts');
  const { createForwarding } = await import('../decisions/forwarding.ts');
  const { origin, upstreams, listen, limits } = config;
  const options = {
    origin,
    identity,
    identityOf: (upstream: string) => upstreams[upstream]?.identity ?? [],
    largestBody: limits.requestBody,
  };
  const judged = routes.map(({ value, slashed: _, ...routed }): Routed<Route> => {
    const { entry } = value;
    return entry?.forwardedBy === 'gateway'
      ? { ...routed, value: { ...value, handler: admitHandler(entry, options) } }
      : { ...routed, value: { protection: 'public', voice: 'problem', cors: value.cors, handler: refuseOther } };
  });
  return createDecisions({
    parts: {
      ...forRequests,
      connections: createConnections(),
      routing: createRouting(judged),
      provenanceOf: createProvenance({ trustedProxies: listen.trustedProxies, onlyProxies: true }),
      site: undefined,
      observing: undefined,
    },
    secret: secrets.get('listen.decisions.secret'),
    fingerprint: gatewayFingerprint(config),
    forwardingOf: createForwarding(config),
    log: foundation.log,
    throttled: createLogThrottle({ clock: foundation.clock, lines: 10, apart: 60_000 }),
  });
}

/** For everything that gateways send to the public listener: what it does with a request, a gateway cannot do. */
function refuseOther(): never {
  throw new GatewayError('not_found', { message: 'The gateway must send requests to this address to coursegate.' });
}
