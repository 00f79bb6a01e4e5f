import { setImmediate as turn } from 'node:timers/promises';
import type { Entry, Mutation, Store } from '../storage/store.ts';
import { BACKEND_SESSION } from './backend-sessions.ts';
import { LAST_USE, USE } from './connected-apps/use-entry.ts';

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
  /** Whether the member has a grant of this client that stands. */
  knows(member: string, clientId: string): Promise<boolean>;
  /** Whether the grant of this id stands, whoever's it is. */
  stands(id: string): Promise<boolean>;
  /**
   * Ends one grant with its tokens and codes, in one commit. In: its id, and whose it must be. Out: false when there is
   * none of that id and owner: who may not end it learns no more than who guesses.
   */
  revoke(id: string, of: GrantsOf): Promise<boolean>;
  /**
   * Ends these, which must all be of this owner: some at a time, as `revokeAll`. What is not there, or not theirs, is left
   * out. Out: those that were ended.
   */
  revokeEach(ids: readonly string[], of: GrantsOf): Promise<readonly StandingGrant[]>;
  /**
   * Ends all of them, some at a time, and lets other requests go first in between. Each is ended whole or not at all. What
   * is granted meanwhile is ended too; what fails half way can be called again. In: what to call with
   * each that has ended. Out: how many.
   */
  revokeAll(of: GrantsOf, ended?: (grant: StandingGrant) => void): Promise<number>;
}
// Every method throws GatewayError `store_unavailable`.

/** In: the store, and what to call after each commit that took access away; who ends grants waits for it. */
export function storedGrants(store: Store, onRevoked: () => void | Promise<void>): Grants {
  const find = (of: GrantsOf, limit: number) =>
    'member' in of
      ? store.findBy('Grant', 'member', of.member, limit)
      : store.findBy('Grant', 'client', of.client, limit);
  const end = async (ids: readonly string[]) => {
    await store.commit(ids.flatMap(ending));
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

    async knows(member, clientId) {
      return (await find({ member }, MOST_LOOKED_AT)).some((entry) => toGrant(entry).clientId === clientId);
    },

    async stands(id) {
      return (await store.get('Grant', id)) !== undefined;
    },

    async revoke(id, of) {
      if ((await standing(id, of)) === undefined) return false;
      await end([id]);
      return true;
    },

    async revokeEach(ids, of) {
      const ended: StandingGrant[] = [];
      for (let at = 0; at < ids.length; at += BATCH) {
        const batch = ids.slice(at, at + BATCH);
        const found = (await Promise.all(batch.map((id) => standing(id, of)))).filter((grant) => grant !== undefined);
        if (found.length > 0) await end(found.map(({ id }) => id));
        ended.push(...found);
        await turn();
      }
      return ended;
    },

    async revokeAll(of, ended) {
      for (let count = 0; ; ) {
        const found = (await find(of, BATCH)).map(toGrant);
        if (found.length === 0) return count;
        await end(found.map(({ id }) => id));
        for (const grant of found) ended?.(grant);
        count += found.length;
        await turn();
      }
    },
  };
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

function toGrant({ payload, expiresAt }: Entry): StandingGrant {
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
