import { hash, randomBytes } from 'node:crypto';
import { APPROVALS, chargeToMember } from '../storage/quota.ts';
import { type Clock, jsonEntry, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';
import { canonicalJson } from './once.ts';
import { APPROVAL } from './paths.ts';

/** How long a call waits for its member, and an approved one for its app. In seconds. */
const LIFETIME = 600;

/** A call that its member has to approve. An approval is only for calls that are equal in all of these. */
export interface HeldCall {
  readonly member: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly tool: string;
  /** A digest of everything that decides what the tool does. */
  readonly version: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the member is shown of the call, beside its arguments. */
interface Shown {
  readonly title: string;
  /** What people call the arguments, by name. */
  readonly labels: Readonly<Record<string, string>>;
}

interface Kept extends HeldCall, Shown {
  readonly state: 'waiting' | 'approved' | 'declined';
  /** Tells apart two requests for the same call, one after the other. */
  readonly nonce: string;
}

/** A call that waits for its member, or that they have decided about. */
export interface Approval extends Kept {
  /** The digest of the call. It is no secret from the app. */
  readonly id: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly revision: number;
}

/** What becomes of a call. `approved`: the approval is used up, and the call must be made now. Times are Unix seconds. */
type Admission =
  | { readonly kind: 'approved'; readonly id: string }
  | { readonly kind: 'waiting'; readonly id: string; readonly expiresAt: number; readonly isNew: boolean }
  | { readonly kind: 'declined'; readonly id: string; readonly expiresAt: number };

/** Every method throws GatewayError `store_unavailable`. */
export type Approvals = ReturnType<typeof storedApprovals>;

/** Calls of tools that their members approve one by one, at any replica. */
export function storedApprovals(store: Store, clock: Clock) {
  const entryOf = (id: string, kept: Kept, expiresAt: number): NewEntry => ({
    ...jsonEntry(APPROVAL, id, kept, expiresAt, {
      grant: kept.grantId,
      member: kept.member,
      client: kept.clientId,
    }),
    // What a member has approved is no longer only what an app has asked for.
    ...(kept.state === 'waiting' ? { charge: chargeToMember(kept.member, kept.clientId, APPROVALS) } : {}),
  });

  const find = async (id: string): Promise<Approval | undefined> => {
    const entry = await store.get(APPROVAL, id);
    if (entry === undefined) return undefined;
    const { payload, expiresAt = 0, revision } = entry;
    return { ...(JSON.parse(payload) as Kept), id, expiresAt, revision };
  };

  return {
    /** Finds one by its id, regardless of its member. */
    find,

    /** Uses up the approval of a call. If there is none, the call begins to wait, unless it waits already. */
    async admit(call: HeldCall, shown: Shown): Promise<Admission> {
      const id = idOf(call);
      for (;;) {
        const found = await find(id);
        if (found === undefined) {
          const expiresAt = unixSeconds(clock) + LIFETIME;
          const kept: Kept = { ...call, ...shown, state: 'waiting', nonce: randomBytes(16).toString('base64url') };
          if (await store.commit([{ op: 'create', entry: entryOf(id, kept, expiresAt) }]))
            return { kind: 'waiting', id, expiresAt, isNew: true };
        } else if (found.state !== 'approved') {
          return { kind: found.state, id, expiresAt: found.expiresAt, isNew: false };
        } else if (
          // Of two calls at once, one finds the revision that it read.
          await store.commit([
            { op: 'update', entry: entryOf(id, keptOf(found), found.expiresAt), revision: found.revision },
            { op: 'delete', kind: APPROVAL, id },
          ])
        ) {
          return { kind: 'approved', id };
        }
      }
    },

    /** Returns when the decision expires, in Unix seconds; undefined if it was decided, used or ended meanwhile. */
    async decide(approval: Approval, state: 'approved' | 'declined'): Promise<number | undefined> {
      if (approval.state !== 'waiting') return undefined;
      const expiresAt = state === 'approved' ? unixSeconds(clock) + LIFETIME : approval.expiresAt;
      const entry = entryOf(approval.id, { ...keptOf(approval), state }, expiresAt);
      return (await store.commit([{ op: 'update', entry, revision: approval.revision }])) ? expiresAt : undefined;
    },
  };
}

function keptOf({ id: _id, expiresAt: _expiresAt, revision: _revision, ...kept }: Approval): Kept {
  return kept;
}

function idOf({ member, clientId, grantId, tool, version, input }: HeldCall): string {
  const bound = JSON.stringify([member, clientId, grantId, tool, version, canonicalJson(input)]);
  return hash('sha256', bound, 'base64url');
}
