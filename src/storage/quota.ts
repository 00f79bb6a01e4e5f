import { GatewayError } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import { currentRequest } from '../http/current-request.ts';

/** How much one kind of stranger's work may hold in the store. Bytes, as `OVERHEAD` and the sealed payload add up. */
export interface Quota {
  readonly name: string;
  readonly total: number;
  readonly perClient: number;
  readonly perNetwork: number;
  /** `evict`: the oldest entries of whoever holds most make room. `refuse`: the new one is not taken. */
  readonly whenFull: 'evict' | 'refuse';
}

/** To whom an entry is charged, because somebody caused it whom the gate does not know. */
export interface Charge {
  readonly quota: Quota;
  /** As `networkOf` gives it; of what a signed-in member left pending, the member. */
  readonly network: string;
  /** The app's client_id; '' when no app is involved. */
  readonly client: string;
}

/** What an entry costs besides its payload: its row and its places in the indexes. */
export const OVERHEAD = 1024;

const MIB = 1024 * 1024;

/**
 * Authorization requests until a member is known: pushed requests, interactions, sign-ins at another provider, sessions of
 * browsers in which nobody is signed in. About 10,000 sign-ins that were begun and not finished, 1,300 of one network.
 */
export const PENDING: Quota = {
  name: 'pending',
  total: 32 * MIB,
  perClient: 16 * MIB,
  perNetwork: 4 * MIB,
  whenFull: 'evict',
};

/** The same once a member is known: strangers cannot evict it. Charged to the member instead of the network. */
const PENDING_OF_MEMBERS: Quota = {
  name: 'pending-of-members',
  total: 32 * MIB,
  perClient: 32 * MIB,
  perNetwork: 1 * MIB,
  whenFull: 'evict',
};

/** Registered clients that no member has connected, and their registration access tokens. About 10,000. */
export const UNUSED_CLIENTS: Quota = {
  name: 'unused-clients',
  total: 32 * MIB,
  perClient: 32 * MIB,
  perNetwork: 4 * MIB,
  whenFull: 'evict',
};

/** Client metadata documents that no member has approved. One that is evicted is fetched again. */
export const UNUSED_DOCUMENTS: Quota = {
  name: 'unused-documents',
  total: 8 * MIB,
  perClient: 8 * MIB,
  perNetwork: 1 * MIB,
  whenFull: 'evict',
};

/**
 * DPoP proofs at the pushed authorization endpoint, where a public client proves nothing about itself. Evicting one
 * would let it be replayed, so a full quota refuses further proofs. Proofs that come with a token, a code or a refresh
 * token are charged to nobody: a stranger has none.
 */
export const PROOFS: Quota = {
  name: 'proofs',
  total: 4 * MIB,
  perClient: 4 * MIB,
  perNetwork: 512 * 1024,
  whenFull: 'refuse',
};

/** Charges an entry to the network that sent the current request. Undefined outside of a request. */
export function chargeTo(quota: Quota, client = ''): Charge | undefined {
  const request = currentRequest();
  return (
    request && {
      quota,
      network: networkOf(request.provenance.clientAddress),
      client,
    }
  );
}

/** Charges an entry to a member who has signed in. */
export function chargeToMember(member: string, client = ''): Charge {
  return { quota: PENDING_OF_MEMBERS, network: member, client };
}

/** Refuses an entry for which nothing else may be evicted. */
export function quotaFull(): GatewayError {
  return new GatewayError('too_many_requests', {
    message: 'too many requests of this kind are pending: try again later',
    headers: { 'retry-after': '60' },
  });
}
