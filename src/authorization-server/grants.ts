import { setImmediate as turn } from 'node:timers/promises';
import { type Ending, type EventClient, grantRevoked } from '../events/event.ts';
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts';
import type { Entry, Mutation, Store } from '../storage/store.ts';
import { BACKEND_SESSION } from './backend-sessions.ts';
import { LAST_USE, USE } from './connected-apps/use-entry.ts';
import { describeClient } from './event-client.ts';

/** What hangs on a grant, and is nothing without it. */
const BELONGINGS = [
  ...['AccessToken', 'RefreshToken', 'AuthorizationCode', 'RefreshAnswer', 'CodeAnswer'],
  USE,
  LAST_USE,
  BACKEND_SESSION,
] as const;

/** Grants ended in one commit: a grant that is refreshed day and night has some thousand used tokens. */
const BATCH = 10;

/** Of a member with more, an app may be called new that is not. */
const MOST_LOOKED_AT = 1000;

/** Whose grants: those a member gave, or those a client was given. */
export type GrantsOf = { readonly member: string } | { readonly client: string };

/** One approval that stands: an app that a member let in. */
export interface StandingGrant {
  readonly id: string;
  /** The member, as `sub` in the tokens. */
  readonly member: string;
  readonly clientId: string;
  /** What was granted, of the catalogue. */
  readonly scopes: readonly string[];
  /** RFC 8707: where it counts. */
  readonly resources: readonly string[];
  /** Unix seconds. */
  readonly grantedAt: number;
  readonly expiresAt: number | undefined;
}

/** Every approval in the store: for a member's list of connected apps, and for the operator. */
export interface Grants {
  /** At most `limit` of them, in no order. Costs as many reads as it finds, however many others there are. */
  list(of: GrantsOf, limit: number): Promise<readonly StandingGrant[]>;
  /** The grant of this id, whoever's it is. */
  find(id: string): Promise<StandingGrant | undefined>;
  /** How many stand. Costs next to nothing, however many. */
  count(of: GrantsOf): Promise<number>;
  /** Whether the member has a grant of this client that stands. */
  knows(member: string, clientId: string): Promise<boolean>;
  /** Whether the grant of this id stands, whoever's it is. */
  stands(id: string): Promise<boolean>;
  /**
   * Ends one grant with its tokens and codes, in one commit. In: its id, whose it must be, and why. Out: false when there
   * is none of that id and owner: who may not end it learns no more than who guesses.
   */
  revoke(id: string, of: GrantsOf, why: Ending): Promise<boolean>;
  /**
   * Ends these, which must all be of this owner: some at a time, as `revokeAll`. What is not there, or not theirs, is left
   * out. Out: those that were ended.
   */
  revokeEach(ids: readonly string[], of: GrantsOf, why: Ending): Promise<readonly StandingGrant[]>;
  /**
   * Ends all of them, some at a time, and lets other requests go first in between. Each is ended whole or not at all. What
   * is granted meanwhile is ended too; what fails half way can be called again. In: what to call with
   * each that has ended. Out: how many.
   */
  revokeAll(of: GrantsOf, why: Ending, ended?: (grant: StandingGrant) => void): Promise<number>;
}
// Every method throws GatewayError `store_unavailable`.

/**
 * In: the store, what to call after each commit that took access away (who ends grants waits for it), where what ended is
 * written down, in the same commit, and how its app is told of.
 */
export function storedGrants(
  store: Store,
  onRevoked: () => void | Promise<void>,
  outbox: Outbox = NO_OUTBOX,
  describe = (clientId: string) => describeClient(store, clientId),
): Grants {
  const find = (of: GrantsOf, limit: number) =>
    'member' in of
      ? store.findBy('Grant', 'member', of.member, limit)
      : store.findBy('Grant', 'client', of.client, limit);
  const end = async (grants: readonly StandingGrant[], why: Ending) => {
    const told = await revocations(describe, outbox, grants, why);
    await store.commit([...grants.flatMap(({ id }) => ending(id)), ...told], 'vital');
    await onRevoked();
  };

  const standing = async (id: string, of: GrantsOf): Promise<StandingGrant | undefined> => {
    const entry = await store.get('Grant', id);
    const grant = entry === undefined ? undefined : toGrant(entry);
    return grant !== undefined && isOf(grant, of) ? grant : undefined;
  };

  return {
    async list(of, limit) {
      return (await find(of, limit)).map(toGrant);
    },

    async find(id) {
      const entry = await store.get('Grant', id);
      return entry === undefined ? undefined : toGrant(entry);
    },

    count: (of) =>
      'member' in of ? store.count('Grant', 'member', of.member) : store.count('Grant', 'client', of.client),

    async knows(member, clientId) {
      return (await find({ member }, MOST_LOOKED_AT)).some((entry) => toGrant(entry).clientId === clientId);
    },

    async stands(id) {
      return (await store.get('Grant', id)) !== undefined;
    },

    async revoke(id, of, why) {
      const grant = await standing(id, of);
      if (grant === undefined) return false;
      await end([grant], why);
      return true;
    },

    async revokeEach(ids, of, why) {
      const ended: StandingGrant[] = [];
      for (let at = 0; at < ids.length; at += BATCH) {
        const batch = ids.slice(at, at + BATCH);
        const found = (await Promise.all(batch.map((id) => standing(id, of)))).filter((grant) => grant !== undefined);
        if (found.length > 0) await end(found, why);
        ended.push(...found);
        await turn();
      }
      return ended;
    },

    async revokeAll(of, why, ended) {
      for (let count = 0; ; ) {
        const found = (await find(of, BATCH)).map(toGrant);
        if (found.length === 0) return count;
        await end(found, why);
        for (const grant of found) ended?.(grant);
        count += found.length;
        await turn();
      }
    },
  };
}

/** What tells the backend that these have ended: to be committed with it. */
export async function revocations(
  describe: (clientId: string) => Promise<EventClient>,
  outbox: Outbox,
  grants: readonly StandingGrant[],
  why: Ending,
): Promise<readonly Mutation[]> {
  if (!outbox.wants('grant.revoked')) return [];
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

function isOf({ member, clientId }: StandingGrant, of: GrantsOf): boolean {
  return 'member' in of ? member === of.member : clientId === of.client;
}

export function toGrant({ payload, expiresAt }: Entry): StandingGrant {
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
    member: accountId,
    clientId,
    scopes: (openid?.scope ?? '').split(' ').filter((token) => token !== ''),
    resources: Object.keys(resources ?? {}),
    grantedAt: iat,
    expiresAt,
  };
}
