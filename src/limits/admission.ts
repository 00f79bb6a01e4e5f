import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config, RouteConfig } from '../config/schema.ts';
import type { Share } from '../handed-down.ts';
import { networkOf } from '../http/client-network.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Audit } from '../operations/audit.ts';
import type { Counters } from '../storage/counters.ts';
import type { Clock } from '../storage/store.ts';
import type { LimitName } from './limit-fields.ts';
import { type OpenCounts, openRequests } from './open-requests.ts';
import { type LimitFields, type RateLimit, rateLimit } from './rate-limit.ts';

/** The limits that hold at one route. */
export interface RouteLimits {
  readonly address: RateLimit | undefined;
  readonly member: RateLimit | undefined;
  readonly client: RateLimit | undefined;
}

/** How much each caller may ask for. Every method throws GatewayError `too_many_requests` when that is too much. */
export interface Admission {
  /** Something is opened from an address: a response, or the socket of an upgrade. */
  open(address: string, opened: ServerResponse | Duplex): void;
  /** A request was let in by the gate, or needs no gate. Out: what tells the caller how much is left, if anything does. */
  admit(principal: Principal, address: string, response: ServerResponse, limits?: RouteLimits): LimitFields | undefined;
  /** A request was refused by the gate. */
  refuse(address: string, limits?: RouteLimits): void;
  /** A request comes to where secrets could be guessed: it counts when it fails. */
  attempt(address: string, response: ServerResponse): void;
  /** The limits of a route that has its own, counted under its name. */
  limitsOf(entry: Pick<RouteConfig, 'match' | 'limits'>): RouteLimits | undefined;
}

export interface AdmissionParts {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
  /** Of what callers had open under an earlier configuration. */
  readonly share: Share;
  /** Told of each request that is stopped, and by which limit. */
  readonly limited: (limit: LimitName | 'open') => void;
}

/**
 * A member is counted as that member and as a request of that client. The address counts when nobody else is answerable:
 * members of a hosted assistant, and of a school behind one router, all come from few addresses.
 */
export function createAdmission(config: Config['limits'], parts: AdmissionParts): Admission {
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
    openRequests(most, share.take(`open of ${whose}`, undefined, noneOpen), () => limited('open'));
  const openOfAddress = openOf(config.open.address, 'addresses');
  const openOfMember = openOf(config.open.member, 'members');

  return {
    open: (address, opened) => openOfAddress(networkOf(address), opened),

    admit(principal, address, response, limits = common) {
      if (principal.kind === 'anonymous') return limits.address?.count(networkOf(address));
      const fields = limits.member?.count(principal.sub);
      // What is left to a client tells of its other members: only that it is used up is told.
      limits.client?.count(principal.clientId);
      openOfMember(principal.sub, response);
      return fields;
    },

    refuse(address, limits = common) {
      limits.address?.count(networkOf(address));
    },

    attempt(address, response) {
      if (attempts === undefined) return;
      const network = networkOf(address);
      attempts.check(network);
      response.once('finish', () => {
        if (response.statusCode === 400 || response.statusCode === 401) attempts.add(network);
      });
    },

    limitsOf({ match, limits }) {
      if (limits === undefined) return undefined;
      const own = (name: 'address' | 'member' | 'client') =>
        Object.hasOwn(limits, name)
          ? rateLimit(name, match, limits[name], counters, clock, tripped, limited)
          : common[name];
      return { address: own('address'), member: own('member'), client: own('client') };
    },
  };
}
