import { GatewayError } from '../errors.ts';
import { networkOf, widerNetworkOf } from '../http/client-network.ts';
import { currentRequest } from '../http/current-request.ts';

/**
 * How much of the store one kind of unauthenticated work may use. In bytes: the sealed payload plus 1 KiB per
 * entry for its row and its index entries (sqlite/sqlite-1.sql, redis/entries.lua).
 */
export interface Quota {
  readonly name: string;
  readonly total: number;
  readonly perClient: number;
  readonly perNetwork: number;
  /** `evict`: deletes older entries, as limitsOf says. `refuse`: rejects the new entry. */
  readonly whenFull: 'evict' | 'refuse';
}

/** Who an entry counts towards, because it was caused by someone the gate has not authenticated. */
export interface Charge {
  readonly quota: Quota;
  /** As returned by `networkOf`; for pending work of a signed-in member, the member's id. */
  readonly network: string;
  /** As returned by `widerNetworkOf`, or again the member's id. A store tells it from `network` because both are hashed. */
  readonly wider: string;
  /** The app's client_id; '' if no app is involved. */
  readonly client: string;
}

/** What one part of a quota may hold. '*' is every client, or every network. */
export interface Limit {
  readonly client: string;
  /** A network or a wider network. */
  readonly network: string;
  readonly most: number;
  /** In bytes; undefined for a single network. */
  readonly large?: number;
}

/** A wider network may hold this many times as much as one of its networks. */
const WIDER = 2;
/** A wider network that holds more than this part of a quota is large. */
const LARGE = 1 / 256;

/**
 * The limits that a new entry must keep, in the order in which a store enforces them. While a part holds more than
 * `most`, its oldest entry is evicted. If a wider network holds more than `large` of that part, the oldest entry of the
 * largest one is evicted instead. Below that only age counts: a sender of small entries gains nothing by their size.
 */
export function limitsOf({ quota, network, wider, client }: Charge): readonly Limit[] {
  const { total, perClient, perNetwork } = quota;
  return [
    { client: '*', network, most: perNetwork },
    { client: '*', network: wider, most: WIDER * perNetwork },
    ...(client === '' ? [] : [{ client, network: '*', most: perClient, large: LARGE * perClient }]),
    { client: '*', network: '*', most: total, large: LARGE * total },
  ];
}

const MIB = 1024 * 1024;

/** A quota that evicts, with its limits in MiB. */
function evicting(name: string, most: Pick<Quota, 'total' | 'perClient' | 'perNetwork'>): Quota {
  const { total, perClient, perNetwork } = most;
  return { name, total: total * MIB, perClient: perClient * MIB, perNetwork: perNetwork * MIB, whenFull: 'evict' };
}

/**
 * Authorization requests to which no browser has come back: pushed requests, interactions, and sessions of browsers in
 * which no member is signed in. About 10,000 unfinished sign-ins, 1,300 per network.
 */
export const PENDING = evicting('pending', { total: 32, perClient: 16, perNetwork: 4 });

/**
 * The same once the browser has come back with its cookie and is sent to a sign-in page: a member may be typing there.
 * Requests that nobody follows up cannot evict these.
 */
export const SIGNING_IN = evicting('signing-in', { total: 32, perClient: 32, perNetwork: 4 });

/** Sign-ins at another provider, begun on the sign-in page. */
export const AT_PROVIDER = evicting('at-provider', { total: 8, perClient: 8, perNetwork: 1 });

/** The same after the member is known: strangers cannot evict these. Charged to the member instead of the network. */
const PENDING_OF_MEMBERS = evicting('pending-of-members', { total: 32, perClient: 32, perNetwork: 1 });

/**
 * Calls of tools that wait for the approval of their member, who is charged instead of the network. About 30 of the
 * largest for a member; one that is approved counts no longer.
 */
export const APPROVALS = evicting('approvals', { total: 32, perClient: 16, perNetwork: 0.5 });

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
  ...evicting('proofs', { total: 4, perClient: 4, perNetwork: 0.5 }),
  whenFull: 'refuse',
};

/** Charges an entry to the network that sent the current request. Undefined outside a request. */
export function chargeTo(quota: Quota, client = ''): Charge | undefined {
  const request = currentRequest();
  return request && chargeFrom(quota, request.provenance.clientAddress, client);
}

/** Charges an entry to the network of an address. */
export function chargeFrom(quota: Quota, address: string, client = ''): Charge {
  return { quota, network: networkOf(address), wider: widerNetworkOf(address), client };
}

/** Charges an entry to a member instead of a network. */
export function chargeToMember(member: string, client = '', quota = PENDING_OF_MEMBERS): Charge {
  return { quota, network: member, wider: member, client };
}

/** The error for an entry that does not fit into a quota that evicts nothing. */
export function quotaFull(): GatewayError {
  return new GatewayError('too_many_requests', {
    message: 'too many requests of this kind are pending: try again later',
    headers: { 'retry-after': '60' },
  });
}
