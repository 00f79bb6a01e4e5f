import type { LoadedConfig } from '../config/load.ts';
import { GatewayError } from '../errors.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { createConnections } from '../http/connections.ts';
import { createProvenance } from '../http/provenance.ts';
import type { RequestParts } from '../request/parts.ts';
import type { Route } from '../request/route.ts';
import type { IdentityFor } from '../upstream/identity.ts';
import { createRouting, type Routed } from '../upstream/routing.ts';
import { admitHandler } from './admit.ts';
import { createDecisions, type Decisions } from './decisions.ts';

interface DecisionsUses {
  readonly forRequests: Omit<RequestParts, 'connections'>;
  /** The routes of the public listener. */
  readonly routes: readonly Routed<Route>[];
  readonly identity: IdentityFor;
}

/** Decisions for the gateways that ask at `listen.decisions`. */
export function openDecisions(
  foundation: Pick<Foundation, 'log' | 'clock'>,
  loaded: LoadedConfig,
  { forRequests, routes, identity }: DecisionsUses,
): Decisions {
  const { config } = loaded;
  const asked = routes.map(({ value, slashed: _, ...routed }): Routed<Route> => {
    const { entry } = value;
    return entry?.forwardedBy === 'gateway'
      ? { ...routed, value: { ...value, handler: admitHandler(entry, loaded, identity) } }
      : { ...routed, value: { protection: 'public', voice: 'problem', cors: value.cors, handler: refuseOther } };
  });
  const parts: RequestParts = {
    ...forRequests,
    connections: createConnections(),
    routing: createRouting(asked),
    provenanceOf: createProvenance({ trustedProxies: config.listen.trustedProxies, onlyProxies: true }),
    site: undefined,
    observing: undefined,
  };
  return createDecisions(foundation, loaded, parts);
}

/** For everything that gateways send to the public listener: what it does with a request, a gateway cannot do. */
function refuseOther(): never {
  throw new GatewayError('not_found', { message: 'The gateway must send requests to this address to coursegate.' });
}
