import { GatewayError } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import { currentRequest } from '../http/current-request.ts';

/**
 * How much of the store one kind of unauthenticated work may use. In bytes: the sealed payload plus 1 KiB per
 * entry for its row and its index entries (sqlite-schema.ts, redis-script-entries.ts).
 */
export interface Quota {
  readonly name: string;
  readonly total: number;
  readonly perClient: number;
  readonly perNetwork: number;
  /** `evict`: deletes the oldest entries of the network that holds most. `refuse`: rejects the new entry. */
  readonly whenFull: 'evict' | 'refuse';
}

/** Who an entry counts towards, because it was caused by someone the gate has not authenticated. */
export interface Charge {
  readonly quota: Quota;
  /** As returned by `networkOf`; for pending work of a signed-in member, the member's id. */
  readonly network: string;
  /** The app's client_id; '' if no app is involved. */
  readonly client: string;
}

const MIB = 1024 * 1024;

/** A quota that evicts, with its limits in MiB. */
function evicting(name: string, most: Pick<Quota, 'total' | 'perClient' | 'perNetwork'>): Quota {
  const { total, perClient, perNetwork } = most;
  return { name, total: total * MIB, perClient: perClient * MIB, perNetwork: perNetwork * MIB, whenFull: 'evict' };
}

/**
 * Authorization requests until the member is known: pushed requests, interactions, sign-ins at another provider, and
 * sessions of browsers in which no member is signed in. About 10,000 unfinished sign-ins, 1,300 per network.
 */
export const PENDING = evicting('pending', { total: 32, perClient: 16, perNetwork: 4 });

/** The same after the member is known: strangers cannot evict these. Charged to the member instead of the network. */
const PENDING_OF_MEMBERS = evicting('pending-of-members', { total: 32, perClient: 32, perNetwork: 1 });

/** Registered clients that no member has connected, and their registration access tokens. About 10,000. */
export const UNUSED_CLIENTS = evicting('unused-clients', { total: 32, perClient: 32, perNetwork: 4 });

/** Client metadata documents that no member has approved. An evicted document is fetched again. */
export const UNUSED_DOCUMENTS = evicting('unused-documents', { total: 8, perClient: 8, perNetwork: 1 });

/**
 * Lines of the audit trail that the console shows, about 190,000. Charged to the member or app that a line is about
 * instead of a network. Lines that strangers cause, about 2900, cannot evict them.
 */
export const TRAIL = evicting('trail', { total: 256, perClient: 256, perNetwork: 16 });
export const TRAIL_OF_STRANGERS = evicting('trail-of-strangers', { total: 4, perClient: 4, perNetwork: 1 });

/**
 * DPoP proofs at the pushed authorization endpoint, where a public client does not authenticate. Evicting a proof would
 * allow it to be replayed, so a full quota refuses further proofs. Proofs that come with a token, a code or a refresh
 * token are not charged: a stranger has none of these.
 */
export const PROOFS: Quota = {
  name: 'proofs',
  total: 4 * MIB,
  perClient: 4 * MIB,
  perNetwork: 512 * 1024,
  whenFull: 'refuse',
};

/** Charges an entry to the network that sent the current request. Undefined outside a request. */
export function chargeTo(quota: Quota, client = ''): Charge | undefined {
  const request = currentRequest();
  return request && { quota, network: networkOf(request.provenance.clientAddress), client };
}

/** Charges an entry to a signed-in member. */
export function chargeToMember(member: string, client = ''): Charge {
  return { quota: PENDING_OF_MEMBERS, network: member, client };
}

/** The error for an entry that does not fit into a quota that evicts nothing. */
export function quotaFull(): GatewayError {
  return new GatewayError('too_many_requests', {
    message: 'too many requests of this kind are pending: try again later',
    headers: { 'retry-after': '60' },
  });
}
