import { GatewayError } from '../../errors.ts';
import type { EndReason } from '../../events/event.ts';
import { SIGN_IN_KIND } from '../../login/sign-in-session.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Clock, Store } from '../../storage/store.ts';
import type { Grants, GrantsOf, StandingGrant } from '../grants.ts';
import type { Members } from '../members.ts';
import { storedClientBlocks } from './client-blocks.ts';
import { type ClientFilter, storedClients } from './clients.ts';
import { isoTime, LISTED, lastUses, viewOf } from './grant-view.ts';
import { knownMembers } from './members.ts';
import type { PageWanted } from './paging.ts';
import type { Suspensions } from './suspensions.ts';

/** Who gave a command and why, for the audit log. */
export interface Decision {
  readonly by: 'backend' | 'operator';
  readonly reason: string | undefined;
  /** The subject of the client certificate, if one was used. */
  readonly certificate: string | undefined;
  readonly address: string | undefined;
  readonly requestId: string | undefined;
}

/** The commands of the backend and the operator on members, apps and grants. */
export interface AccountControl {
  listMembers(text: string | undefined, wanted: PageWanted): Promise<object>;
  describeMember(member: string): Promise<object>;
  /** Ends all grants of the member. Resolves to their number. Safe to repeat. */
  revokeMember(member: string, decision: Decision): Promise<object>;
  /** Also prevents new grants, tokens and refreshes until the member is resumed. */
  suspendMember(member: string, decision: Decision): Promise<object>;
  resumeMember(member: string, decision: Decision): Promise<object>;
  listClients(filter: ClientFilter, wanted: PageWanted): Promise<object>;
  describeClient(client: string): Promise<object>;
  /** Ends all grants of the app. It may ask members again. */
  revokeClient(client: string, decision: Decision): Promise<object>;
  /** Also makes the gate treat the app as unknown until it is enabled. */
  disableClient(client: string, decision: Decision): Promise<object>;
  enableClient(client: string, decision: Decision): Promise<object>;
  /** Ends all grants and deletes the app. It may register again, or present its metadata document again. */
  deleteClient(client: string, decision: Decision): Promise<object>;
  listGrants(of: GrantsOf): Promise<object>;
  /** Ends one grant of any member. Throws `not_found`. */
  revokeGrant(id: string, decision: Decision): Promise<object>;
}
// Every method throws GatewayError `store_unavailable`; those on one app throw `not_found` for an unknown app.

export interface AccountControlOptions {
  readonly grants: Grants;
  readonly members: Members;
  readonly suspensions: Suspensions;
  /** Deletes a registered app with its grants and tokens. */
  readonly removeClient: (id: string) => Promise<void>;
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
}

/**
 * When a command is answered, its effect is complete: the commit that ends a grant also deletes its codes and tokens,
 * and a token request in progress can commit only if the code or token that it exchanges still exists. A suspension is
 * stored before the grants are ended, and lifted only after any grants created in between are ended too.
 */
export function createAccountControl(options: AccountControlOptions): AccountControl {
  const { grants, members, suspensions, store, audit } = options;
  const blocks = storedClientBlocks(store, options.clock);
  const clients = storedClients({ store, grants, blocks });
  const known = knownMembers({ store, grants, suspensions });

  const endAll = async (of: GrantsOf, reason: EndReason, decision: Decision): Promise<number> => {
    // A sign-in session that a browser still holds must not be able to approve new grants.
    if ('member' in of) {
      await store.commit([{ op: 'deleteBy', kind: SIGN_IN_KIND, name: 'member', value: of.member }], 'vital');
    }
    const why = { by: decision.by, reason, note: decision.reason };
    return grants.revokeAll(of, why, ({ id, member, clientId }) =>
      audit({ action: 'grant_ended', grantId: id, member, clientId, ...decision }),
    );
  };
  const listOf = async (listed: readonly StandingGrant[]) => {
    const shown = listed.slice(0, LISTED);
    const uses = await lastUses(store, shown);
    return { grants: shown.map((grant) => viewOf(grant, uses.get(grant.id))), more: listed.length > LISTED };
  };
  const ofClient = (id: string, decision: Decision) => ({
    clientId: id,
    member: undefined,
    grantId: undefined,
    ...decision,
  });
  const tell = (action: 'member_revoked' | 'member_suspended', member: string, ended: number, decision: Decision) =>
    audit({ action, member, clientId: undefined, grantId: undefined, ended, ...decision });

  return {
    async describeMember(id) {
      const [since, stored, listed] = await Promise.all([
        suspensions.since(id),
        members.find(id),
        grants.list({ member: id }, LISTED + 1),
      ]);
      return {
        id,
        state: since === undefined ? 'active' : 'suspended',
        ...(since === undefined ? {} : { suspended_at: isoTime(since) }),
        // An id that never signed in is more likely a typo than a member.
        known: stored !== undefined,
        ...(await listOf(listed)),
      };
    },

    async revokeMember(id, decision) {
      const ended = await endAll({ member: id }, 'member_revoked', decision);
      tell('member_revoked', id, ended, decision);
      return { id, ended };
    },

    async suspendMember(id, decision) {
      const since = await suspensions.begin(id);
      const ended = await endAll({ member: id }, 'member_suspended', decision);
      tell('member_suspended', id, ended, decision);
      return { id, state: 'suspended', suspended_at: isoTime(since), ended };
    },

    async resumeMember(id, decision) {
      await endAll({ member: id }, 'member_resumed', decision);
      await suspensions.end(id);
      audit({ action: 'member_resumed', member: id, clientId: undefined, grantId: undefined, ...decision });
      return { id, state: 'active' };
    },

    async listMembers(text, wanted) {
      const { found, next } = await known.list(text, wanted);
      return { members: found, ...(next === undefined ? {} : { next }) };
    },

    async listClients(filter, wanted) {
      const { found, next } = await clients.list(filter, wanted);
      return { clients: found, ...(next === undefined ? {} : { next }) };
    },

    describeClient: (id) => clients.describe(id),

    async revokeClient(id, decision) {
      const ended = await endAll({ client: id }, 'client_revoked', decision);
      audit({ action: 'client_revoked', ended, ...ofClient(id, decision) });
      return { id, ended };
    },

    async disableClient(id, decision) {
      const { host } = await clients.require(id);
      const since = await blocks.begin(id);
      const ended = await endAll({ client: id }, 'client_revoked', decision);
      audit({ action: 'client_disabled', clientHost: host, ended, ...ofClient(id, decision) });
      return { id, state: 'disabled', disabled_at: isoTime(since), ended };
    },

    async enableClient(id, decision) {
      // Grants that were created between the block and the end of all grants.
      await endAll({ client: id }, 'client_revoked', decision);
      await blocks.end(id);
      audit({ action: 'client_enabled', ...ofClient(id, decision) });
      return { id, state: 'enabled' };
    },

    async deleteClient(id, decision) {
      const { kind, host } = await clients.require(id);
      const ended = await endAll({ client: id }, 'client_deleted', decision);
      if (kind === 'registered') await options.removeClient(id);
      else await store.commit([{ op: 'delete', kind: 'ClientDocument', id }], 'vital');
      audit({ action: 'client_deleted', clientHost: host, ended, ...ofClient(id, decision) });
      return { id, ended };
    },

    async listGrants(of) {
      return listOf(await grants.list(of, LISTED + 1));
    },

    async revokeGrant(id, decision) {
      const grant = await grants.find(id);
      const why = { by: decision.by, reason: 'grant_revoked', note: decision.reason } as const;
      if (grant === undefined || !(await grants.revoke(id, { member: grant.member }, why)))
        throw new GatewayError('not_found', { message: 'No active grant has this id.' });
      const { member, clientId } = grant;
      audit({ action: 'grant_ended', grantId: id, member, clientId, ...decision });
      return { id, member, client_id: clientId, ended: 1 };
    },
  };
}
