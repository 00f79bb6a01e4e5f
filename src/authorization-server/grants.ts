import { setImmediate as turn } from 'node:timers/promises';
import { APPROVAL } from '../approvals/kind.ts';
import { type Ending, type EventClient, grantRevoked } from '../events/event.ts';
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts';
import type { Entry, Mutation, Store } from '../storage/store.ts';
import { BACKEND_SESSION } from './backend-sessions.ts';
import { LAST_USE, USE } from './connected-apps/use-entry.ts';
import { describeClient } from './event-client.ts';
import { UNREDEEMED, unredeemedAmong } from './unredeemed.ts';

/** Kinds of entries that belong to a grant, and are deleted with it. */
const BELONGINGS = [
  ...['AccessToken', 'RefreshToken', 'AuthorizationCode', 'CodeUse'],
  USE,
  LAST_USE,
  BACKEND_SESSION,
  UNREDEEMED,
  APPROVAL,
] as const;

/** Grants ended in one commit. */
const BATCH = 50;

/** For a member with more grants, a known app may be shown as new. */
const MOST_LOOKED_AT = 1000;

/** Selects the grants that a member gave, or those that a client was given. */
export type GrantsOf = { readonly member: string } | { readonly client: string };

/** One active approval: a member has connected an app. */
export type StandingGrant = Readonly<ReturnType<typeof toGrant>>;

/**
 * Every approval in the store, for the member's list of connected apps and for the operator. Every method throws
 * GatewayError `store_unavailable`.
 */
export interface Grants {
  /** At most `limit` grants, unordered. Reads only those it returns, however many others are stored. */
  list(of: GrantsOf, limit: number): Promise<readonly StandingGrant[]>;
  /** Finds a grant by its id, regardless of its owner. */
  find(id: string): Promise<StandingGrant | undefined>;
  /** Which of these were approved without their app ever fetching a token: nothing is connected. */
  unredeemed(grants: readonly StandingGrant[]): Promise<ReadonlySet<string>>;
  /** Number of active grants. Cheap, regardless of how many there are. */
  count(of: GrantsOf): Promise<number>;
  /**
   * The scopes that the member has granted to this client, and when they last did, in Unix seconds; undefined without an
   * active grant whose code was redeemed.
   */
  held(
    member: string,
    clientId: string,
  ): Promise<{ readonly scopes: ReadonlySet<string>; readonly since: number } | undefined>;
  /** Whether the grant with this id is active, regardless of its owner. */
  isActive(id: string): Promise<boolean>;
  /**
   * Ends one grant with its tokens and codes, in one commit.
   * @returns false if this owner has no grant of this id. The same answer for the grants of others, so that guessing an
   * id reveals nothing.
   */
  revoke(id: string, of: GrantsOf, why: Ending): Promise<boolean>;
  /**
   * Ends these grants of this owner in batches, as `revokeAll` does. Skips ids that do not exist or belong to others.
   * @returns the grants that were ended
   */
  revokeEach(ids: readonly string[], of: GrantsOf, why: Ending): Promise<readonly StandingGrant[]>;
  /**
   * Ends all grants of this owner in batches, and lets other requests run in between. Each grant is ended completely or
   * not at all. Grants made in the meantime are ended, too. After a failure it can be called again.
   * @param ended - called with each grant that was ended
   * @returns how many were ended
   */
  revokeAll(of: GrantsOf, why: Ending, ended?: (grant: StandingGrant) => void): Promise<number>;
}

/**
 * @param onRevoked - called and awaited after each commit that took access away, or may have
 * @param outbox - records each revocation in the commit that performs it
 * @param describe - describes an app in these events
 */
export function storedGrants(
  store: Store,
  onRevoked: () => void | Promise<void>,
  outbox: Outbox = NO_OUTBOX,
  describe = (clientId: string) => describeClient(store, clientId),
): Grants {
  const find = async (of: GrantsOf, limit: number) =>
    (await store.findBy('Grant', ...referenceOf(of), limit)).map(toGrant);
  const end = async (grants: readonly StandingGrant[], why: Ending, guard: readonly Mutation[] = []) => {
    const reported = await revocations(describe, outbox, grants, why);
    try {
      return await store.commit([...guard, ...grants.flatMap(({ id }) => ending(id)), ...reported], 'vital');
    } finally {
      // Also after a failure: the commit may have been applied.
      await onRevoked();
    }
  };

  const findById = async (id: string): Promise<StandingGrant | undefined> => {
    const entry = await store.get('Grant', id);
    return entry === undefined ? undefined : toGrant(entry);
  };

  return {
    list: find,
    find: findById,
    unredeemed: (grants) => unredeemedAmong(store, grants),
    count: (of) => store.count('Grant', ...referenceOf(of)),

    async held(member, clientId) {
      const given = (await find({ member }, MOST_LOOKED_AT)).filter((grant) => grant.clientId === clientId);
      const held = new Set<string>();
      let since: number | undefined;
      for (const { id, scopes, grantedAt } of given.toSorted((a, b) => b.grantedAt - a.grantedAt)) {
        // Of an app that connects again and again, only the last grant has to be looked at.
        if (since !== undefined && scopes.every((scope) => held.has(scope))) continue;
        if ((await unredeemedAmong(store, [{ id }])).has(id)) continue;
        since ??= grantedAt;
        for (const scope of scopes) held.add(scope);
      }
      return since === undefined ? undefined : { scopes: held, since };
    },

    async isActive(id) {
      return (await store.get('Grant', id)) !== undefined;
    },

    async revoke(id, of, why) {
      const grant = await findById(id);
      if (grant === undefined || !isOf(grant, of)) return false;
      // Concurrent calls may all find the grant: the guard lets only one of them end and report it.
      return end([grant], why, [{ op: 'consume', kind: 'Grant', id }]);
    },

    async revokeEach(ids, of, why) {
      const ended: StandingGrant[] = [];
      // Also without any: the request that ended them may have failed after that, and this one acknowledges it.
      for (let at = 0; at === 0 || at < ids.length; at += BATCH) {
        const batch = ids.slice(at, at + BATCH);
        const found = (await Promise.all(batch.map(findById)))
          .filter((grant) => grant !== undefined)
          .filter((grant) => isOf(grant, of));
        await end(found, why);
        ended.push(...found);
        await turn();
      }
      return ended;
    },

    async revokeAll(of, why, ended) {
      for (let count = 0; ; ) {
        const found = await find(of, BATCH);
        await end(found, why);
        if (found.length === 0) return count;
        for (const grant of found) ended?.(grant);
        count += found.length;
        await turn();
      }
    },
  };
}

/** The events that report these revocations to the backend, to be committed with them. */
export async function revocations(
  describe: (clientId: string) => Promise<EventClient>,
  outbox: Outbox,
  grants: readonly StandingGrant[],
  why: Ending,
): Promise<readonly Mutation[]> {
  if (!outbox.active) return [];
  const apps = [...new Set(grants.map(({ clientId }) => clientId))];
  const known = new Map(await Promise.all(apps.map(async (id) => [id, await describe(id)] as const)));
  return grants.flatMap((grant) => {
    const client = known.get(grant.clientId) ?? { id: grant.clientId, kind: 'registered' };
    return outbox.entries(grantRevoked({ ...grant, client }, why)).map((entry): Mutation => ({ op: 'put', entry }));
  });
}

function ending(id: string): readonly Mutation[] {
  return [
    { op: 'delete', kind: 'Grant', id },
    ...BELONGINGS.map((kind): Mutation => ({ op: 'deleteBy', kind, name: 'grant', value: id })),
  ];
}

function referenceOf(of: GrantsOf): ['member' | 'client', string] {
  return 'member' in of ? ['member', of.member] : ['client', of.client];
}

function isOf({ member, clientId }: StandingGrant, of: GrantsOf): boolean {
  return 'member' in of ? member === of.member : clientId === of.client;
}

export function toGrant({ payload, expiresAt }: Entry) {
  const { jti, accountId, clientId, iat, openid, resources } = JSON.parse(payload) as {
    jti: string;
    accountId: string;
    clientId: string;
    iat: number;
    openid?: { scope?: string };
    resources?: Readonly<Record<string, string>>;
  };
  return {
    id: jti,
    /** The member, as `sub` in the tokens. */
    member: accountId,
    clientId,
    scopes: (openid?.scope ?? '').split(' ').filter((token) => token !== '') as readonly string[],
    /** The resources it is valid for (RFC 8707). */
    resources: Object.keys(resources ?? {}) as readonly string[],
    /** Unix seconds, as `expiresAt`. */
    grantedAt: iat,
    expiresAt,
  };
}
