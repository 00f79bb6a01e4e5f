import { hash, randomBytes } from 'node:crypto';
import type { AuditEvent } from '../operations/audit.ts';
import { APPROVALS, chargeToMember } from '../storage/quota.ts';
import { type Clock, type Entry, jsonEntry, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';
import { APPROVAL } from './kind.ts';

/** How long a call waits for its member, and an approved one for its app. In seconds. */
const LIFETIME = 600;
/** How long the store keeps one that has expired, so that a gate that was down still audits it. In seconds. */
const KEPT = 86_400;
/** How many are looked at for one turn of `expire`. */
const BATCH = 200;
/** What all entries are found by, the oldest first. */
const ALL = 'all';

/** A call that its member has to approve. An approval is only for calls that are equal in all of these. */
export interface HeldCall {
  readonly member: string;
  readonly clientId: string;
  readonly grantId: string;
  /** The tool or the route, as the audit names it. */
  readonly what: Pick<AuditEvent, 'used' | 'route'>;
  /** A digest of everything that decides what the call does. */
  readonly version: string;
  /** What the app sends, in one form for equal calls. */
  readonly call: string;
}

/** One thing that the member is shown of a call: an argument, a parameter, a member of a body. */
export interface Given {
  readonly name: string;
  /** The operator's name for it. */
  readonly label?: string | undefined;
  readonly text: string;
  /** What an id stands for. */
  readonly meaning?: string | undefined;
}

/** What the member is shown of the call. */
export interface Shown {
  /** What the call does, in the operator's words; undefined: what its scopes say. */
  readonly title?: string;
  readonly scopes: readonly string[];
  /** Method and target of a request. */
  readonly request?: string;
  readonly given: readonly Given[];
  /** What the backend says the call would do. */
  readonly preview?: readonly Given[];
  /** A body that cannot be shown in words. */
  readonly content?: { readonly type: string; readonly bytes: number; readonly sha256: string };
}

interface Kept extends Omit<HeldCall, 'version' | 'call'>, Shown {
  /** The digest of the call. It is no secret from the app. Kept, because a store returns what it is found by as a hash. */
  readonly id: string;
  readonly state: 'waiting' | 'approved' | 'declined';
  /** Tells apart two requests for the same call, one after the other. */
  readonly nonce: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** A call that waits for its member, or that they have decided about. */
export interface Approval extends Kept {
  readonly revision: number;
}

/** What becomes of a call. `approved`: the approval is used up, and the call must be made now. Times are Unix seconds. */
type Admission =
  | { readonly kind: 'approved'; readonly id: string }
  | { readonly kind: 'waiting'; readonly id: string; readonly expiresAt: number; readonly isNew: boolean }
  | { readonly kind: 'declined'; readonly id: string; readonly expiresAt: number }
  | { readonly kind: 'unasked' };

/** Every method throws GatewayError `store_unavailable`. */
export type Approvals = ReturnType<typeof storedApprovals>;

/**
 * Calls that their members approve one by one, at any replica.
 * @param expired - called once for each that was not used in time
 */
export function storedApprovals(store: Store, clock: Clock, expired: (approval: Approval) => void = () => {}) {
  const entryOf = (kept: Kept): NewEntry => ({
    ...jsonEntry(APPROVAL, kept.id, kept, kept.expiresAt + KEPT, {
      grant: kept.grantId,
      member: kept.member,
      client: kept.clientId,
      uid: ALL,
    }),
    // What a member has approved is no longer only what an app has asked for.
    ...(kept.state === 'waiting' ? { charge: chargeToMember(kept.member, kept.clientId, APPROVALS) } : {}),
  });
  /** When one can have expired, in Unix seconds. */
  let due = 0;
  const isOver = ({ expiresAt }: Approval): boolean => expiresAt <= unixSeconds(clock);

  const stored = async (id: string): Promise<Approval | undefined> => {
    const entry = await store.get(APPROVAL, id);
    return entry && approvalOf(entry);
  };

  /** Deletes it as it was read. Of two at once, one finds the revision. */
  const take = (approval: Approval): Promise<boolean> =>
    store.commit([
      { op: 'update', entry: entryOf(keptOf(approval)), revision: approval.revision },
      { op: 'delete', kind: APPROVAL, id: approval.id },
    ]);

  const end = async (approval: Approval): Promise<void> => {
    if ((await take(approval)) && approval.state !== 'declined') expired(approval);
  };

  return {
    /** Finds one by its id, regardless of its member. */
    async find(id: string): Promise<Approval | undefined> {
      const found = await stored(id);
      return found === undefined || isOver(found) ? undefined : found;
    },

    /**
     * Uses up the approval of a call. If there is none, the call begins to wait with what `shown` returns, unless it waits
     * already.
     */
    async admit(held: HeldCall, shown: () => Promise<Shown | undefined>): Promise<Admission> {
      const id = idOf(held);
      const { version: _, call: __, ...about } = held;
      for (;;) {
        const found = await stored(id);
        if (found === undefined) {
          const words = await shown();
          if (words === undefined) return { kind: 'unasked' };
          const expiresAt = unixSeconds(clock) + LIFETIME;
          const nonce = randomBytes(16).toString('base64url');
          const kept: Kept = { id, ...about, ...words, state: 'waiting', nonce, expiresAt };
          if (await store.commit([{ op: 'create', entry: entryOf(kept) }]))
            return { kind: 'waiting', id, expiresAt, isNew: true };
        } else if (isOver(found)) {
          await end(found);
        } else if (found.state !== 'approved') {
          return { kind: found.state, id, expiresAt: found.expiresAt, isNew: false };
        } else if (await take(found)) {
          return { kind: 'approved', id };
        }
      }
    },

    /** Returns when the decision expires, in Unix seconds; undefined if it was decided, used or ended meanwhile. */
    async decide(approval: Approval, state: 'approved' | 'declined'): Promise<number | undefined> {
      if (approval.state !== 'waiting') return undefined;
      const expiresAt = state === 'approved' ? unixSeconds(clock) + LIFETIME : approval.expiresAt;
      const entry = entryOf({ ...keptOf(approval), state, expiresAt });
      return (await store.commit([{ op: 'update', entry, revision: approval.revision }])) ? expiresAt : undefined;
    },

    /** Deletes those that have expired, each at one replica. Reads the store only when one can have expired. */
    async expire(): Promise<void> {
      const now = unixSeconds(clock);
      if (now < due) return;
      const all = (await store.findBy(APPROVAL, 'uid', ALL, BATCH)).map(approvalOf);
      for (const approval of all.filter(isOver)) await end(approval);
      // What begins to wait later, at any replica, expires later than this.
      due =
        all.length === BATCH
          ? now
          : Math.min(now + LIFETIME, ...all.map(({ expiresAt }) => expiresAt).filter((at) => at > now));
    },
  };
}

function approvalOf({ payload, revision }: Entry): Approval {
  return { ...(JSON.parse(payload) as Kept), revision };
}

function keptOf({ revision: _revision, ...kept }: Approval): Kept {
  return kept;
}

function idOf({ member, clientId, grantId, what, version, call }: HeldCall): string {
  return hash('sha256', JSON.stringify([member, clientId, grantId, what, version, call]), 'base64url');
}
