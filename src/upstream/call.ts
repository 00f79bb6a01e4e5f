import type { Config } from '../config/schema.ts';
import { requestField } from '../http/header-names.ts';
import { ANONYMOUS } from '../oauth/principal.ts';
import { ownCallFields } from './headers.ts';
import type { Identity } from './identity.ts';
import { makeOwnCall } from './own-call.ts';
import type { Pools } from './pools.ts';
import type { CallUpstream, UpstreamRequest } from './request.ts';

/**
 * Makes our own calls to upstreams, on the pools of the protected lane. The upstream's timeout is the deadline of the
 * whole call. A safe call whose kept connection turns out to be closed is made once more, on a new one.
 * Throws as CallUpstream says.
 * Repeated fields of the answer are joined by ', ', Set-Cookie by a line feed, which no value can hold.
 */
export function createCallUpstream(options: {
  upstreams: Config['upstreams'];
  pools: Pools;
  identity: Identity;
  /** Our public origin: a backend that insists on its public name and on https must take these calls too. */
  origin: string;
  /** Is told of each answer: the upstream's name, the status, the milliseconds to its head. */
  answered?: (upstream: string, status: number, milliseconds: number) => void;
}): CallUpstream {
  const own = new Map(
    Object.entries(options.upstreams).map(([name, config]) => [name, ownCallFields(config, options.origin)]),
  );
  return async (request) => {
    const upstream = options.pools.get(request.upstream);
    const identity = await options.identity(request.principal ?? ANONYMOUS, request.upstream, upstream.identity);
    const { fields, servername } = own.get(request.upstream) ?? { fields: {}, servername: '' };
    const asked = performance.now();
    return makeOwnCall({
      connections: upstream.connections,
      visit: upstream.admission.enter(),
      request: {
        method: request.method,
        path: upstream.pathOf({ path: request.path, query: '' }),
        servername,
        headers: { ...ownHeaders(request), ...fields, 'accept-encoding': 'identity', ...identity },
        body: request.body ?? null,
      },
      deadline: upstream.timeouts.head,
      signal: request.signal,
      answered: (status) => options.answered?.(request.upstream, status, performance.now() - asked),
    });
  };
}

/** A call is made by our own code, but its fields may come from a member's request: identity is set here alone. */
function ownHeaders(request: UpstreamRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => {
      const kind = requestField(name);
      return kind !== 'drop' && kind !== 'trace' && kind !== 'connection';
    }),
  );
}
