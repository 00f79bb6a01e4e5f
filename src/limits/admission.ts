import type { ServerResponse } from 'node:http';
import type { Share } from '../config/carried-over.ts';
import type { Config, RouteConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import { addOpen, removeOpen } from '../http/when-closed.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Audit } from '../operations/audit.ts';
import type { Counters } from '../storage/counters.ts';
import type { Clock } from '../storage/store.ts';
import { type LimitFields, type LimitName, type RateLimit, rateLimit } from './rate-limit.ts';

/** Open responses and sockets by caller. */
type OpenCounts = Map<string, number>;

/** Seconds. A guess, since streams end at any time. */
const RETRY_AFTER = '1';

/** The limits of one route. */
export type RouteLimits = Readonly<Record<'address' | 'member' | 'client', RateLimit | undefined>>;

/** Applies rate limits and concurrency limits. Every method throws GatewayError `too_many_requests` beyond a limit. */
export type RequestAdmission = ReturnType<typeof createAdmission>;

export interface AdmissionParts {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
  /** Carries the counts of open requests over to the next configuration. */
  readonly share: Share;
  /** Called for each request that a limit stops. */
  readonly limited: (limit: LimitName | 'open') => void;
}

/**
 * An admitted request with a token counts for its member and its client. Addresses count only for anonymous and refused
 * requests: members of a hosted assistant, or behind one router, share few addresses.
 */
export function createAdmission(config: Config['limits'], parts: AdmissionParts) {
  const { counters, clock, audit, share, limited } = parts;
  const tripped = (limit: LimitName, whose: string) =>
    audit({
      action: 'limit_tripped',
      limit,
      clientId: limit === 'client' ? whose : undefined,
      grantId: undefined,
      member: limit === 'member' ? whose : undefined,
      address: limit === 'address' || limit === 'attempts' ? whose : undefined,
      requestId: undefined,
    });
  const everywhere = (name: LimitName) => rateLimit(name, '', config[name], counters, clock, tripped, limited);
  const common: RouteLimits = {
    address: everywhere('address'),
    member: everywhere('member'),
    client: everywhere('client'),
  };
  const attempts = everywhere('attempts');
  const noneOpen = (): OpenCounts => new Map();
  const openOf = (most: number, whose: string) =>
    openRequests(most, share.acquire(`open of ${whose}`, undefined, noneOpen), () => limited('open'));
  const openOfAddress = openOf(config.open.address, 'addresses');
  const openOfMember = openOf(config.open.member, 'members');

  return {
    /** Counts a request as open for an address until `over`. */
    open(address: string, request: RequestInFlight): void {
      const network = networkOf(address);
      openOfAddress.enter(network);
      request.openAddress = network;
    },

    /** Counts an admitted request, as open too until `over`. Returns the RateLimit fields for the response, if any. */
    admit(principal: Principal, address: string, request: RequestInFlight, limits = common): LimitFields | undefined {
      if (principal.kind === 'anonymous') return leftAfter(limits.address, networkOf(address));
      const fields = leftAfter(limits.member, principal.sub);
      // A client's remaining quota is not reported: it would reveal the activity of its other members.
      limits.client?.count(principal.clientId);
      // The client may have left while its token was checked.
      if (!request.over) {
        openOfMember.enter(principal.sub);
        request.openMember = principal.sub;
      }
      return fields;
    },

    over({ openAddress, openMember }: RequestInFlight): void {
      if (openAddress !== undefined) openOfAddress.leave(openAddress);
      if (openMember !== undefined) openOfMember.leave(openMember);
    },

    /** Counts a request that the gate refused. */
    refuse(address: string, limits = common): void {
      limits.address?.count(networkOf(address));
    },

    /** For endpoints where secrets could be guessed: the request counts if it fails with 400 or 401. */
    attempt(address: string, response: ServerResponse): void {
      if (attempts === undefined) return;
      const network = networkOf(address);
      attempts.check(network);
      response.once('finish', () => {
        if (response.statusCode === 400 || response.statusCode === 401) attempts.add(network);
      });
    },

    /** The limits of a route that configures its own; undefined otherwise. They are counted separately. */
    limitsOf({ match, limits }: Pick<RouteConfig, 'match' | 'limits'>): RouteLimits | undefined {
      if (limits === undefined) return undefined;
      const own = (name: 'address' | 'member') =>
        Object.hasOwn(limits, name)
          ? rateLimit(name, match, limits[name], counters, clock, tripped, limited)
          : common[name];
      return { ...common, address: own('address'), member: own('member') };
    },
  };
}

function leftAfter(limit: RateLimit | undefined, whose: string): LimitFields | undefined {
  return limit?.left(limit.count(whose));
}

/**
 * Limits each caller to `most` open responses or sockets. `open` holds the counts so far, and `limited` is called for
 * each refusal.
 */
function openRequests(most: number, open: OpenCounts, limited: () => void) {
  return {
    /** Throws `too_many_requests` beyond the limit, without counting. */
    enter(whose: string): void {
      if ((open.get(whose) ?? 0) >= most) {
        limited();
        throw new GatewayError('too_many_requests', {
          message: 'Too many requests are open at the same time. End some of them first.',
          headers: { 'retry-after': RETRY_AFTER },
        });
      }
      addOpen(open, whose);
    },
    leave: (whose: string) => removeOpen(open, whose),
  };
}
