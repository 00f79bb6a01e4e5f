import { GatewayError } from '../../errors.ts';
import type { EndReason } from '../../events/event.ts';
import { SIGN_IN_KIND } from '../../login/sign-in-session.ts';
import { detailsOf } from '../../oauth/member-details.ts';
import type { Core } from '../core.ts';
import { type GrantsOf, toGrant } from '../grants.ts';
import { storedMember } from '../members.ts';
import { storedClients } from './clients.ts';
import { grantList, isoTime } from './grant-view.ts';
import { type PageWanted, pageOf } from './paging.ts';
import { registrationSwitch, storedClientBlocks } from './suspensions.ts';

/** Who gave a command and why, for the audit log. */
export interface CommandedBy {
  readonly by: 'backend' | 'operator';
  readonly reason: string | undefined;
  /** The subject of the client certificate, if one was used. */
  readonly certificate: string | undefined;
  readonly address: string | undefined;
  readonly requestId: string | undefined;
}

/** The most grants read for one member, and entries of one step through all grants. */
const MOST_OF_A_MEMBER = 5000;
const SCANNED = 500;

/**
 * The commands of the backend and the operator on members, apps and grants. Every method throws GatewayError
 * `store_unavailable`.
 *
 * When a command is answered, its effect is complete: the commit that ends a grant also deletes its codes and tokens,
 * and a token request in progress can commit only if the code or token that it exchanges still exists. A suspension is
 * stored before the grants are ended, and lifted only after any grants created in between are ended too.
 */
export interface AccountControl
  extends ReturnType<typeof memberCommands>,
    ReturnType<typeof clientCommands>,
    ReturnType<typeof grantCommands>,
    ReturnType<typeof registrationCommands> {}

/** `removeClient` deletes a registered app with its grants and tokens. */
export function createAccountControl(core: Core, removeClient: (id: string) => Promise<void>): AccountControl {
  const { grants, store, audit } = core;

  const endAll: EndAll = async (of, reason, decision) => {
    // A sign-in session that a browser still holds must not be able to approve new grants.
    if ('member' in of)
      await store.commit([{ op: 'deleteBy', kind: SIGN_IN_KIND, name: 'member', value: of.member }], 'vital');
    const why = { by: decision.by, reason, note: decision.reason };
    return grants.revokeAll(of, why, ({ id, member, clientId }) =>
      audit({ action: 'grant_ended', grantId: id, member, clientId, ...decision }),
    );
  };
  return {
    ...memberCommands(core, endAll),
    ...clientCommands(core, endAll, removeClient),
    ...grantCommands(core),
    ...registrationCommands(core),
  };
}

/** Ends all grants of a member or an app. Resolves to their number. Safe to repeat. */
type EndAll = (of: GrantsOf, reason: EndReason, decision: CommandedBy) => Promise<number>;

function memberCommands({ grants, members, suspensions, store, audit }: Core, endAll: EndAll) {
  return {
    /** Those who have ever connected an app, or started to. `text` is a part of an id, name or email, case-insensitive. */
    async listMembers(text: string | undefined, wanted: PageWanted) {
      const part = text?.toLowerCase() ?? '';
      const { found, next } = await pageOf(store, ['Member'], wanted, (entry) => {
        const member = storedMember(entry);
        const said = [member.sub, ...Object.values(detailsOf(member))].join('\n').toLowerCase();
        return said.includes(part) ? member : undefined;
      });
      const listed = found.map(async (member) => {
        const { sub: id } = member;
        const [connections, since] = await Promise.all([grants.count({ member: id }), suspensions.since(id)]);
        return { id, ...detailsOf(member), ...stateOf(since), connections };
      });
      return { members: await Promise.all(listed), next };
    },

    /** A member and their grants, also of an id that the gate has never seen. */
    async describeMember(id: string) {
      const [since, stored, listed] = await Promise.all([
        suspensions.since(id),
        members.find(id),
        grantList(store, grants, { member: id }),
      ]);
      return {
        id,
        ...stateOf(since),
        // An id that never signed in is more likely a typo than a member.
        known: stored !== undefined,
        ...listed,
      };
    },

    /** Ends all grants of a member, who may approve new ones. */
    async revokeMember(id: string, decision: CommandedBy) {
      const ended = await endAll({ member: id }, 'member_revoked', decision);
      audit({ action: 'member_revoked', member: id, ended, ...decision });
      return { id, ended };
    },

    /** Also prevents new grants, tokens and refreshes until the member is resumed. */
    async suspendMember(id: string, decision: CommandedBy) {
      const since = await suspensions.begin(id);
      const ended = await endAll({ member: id }, 'member_suspended', decision);
      audit({ action: 'member_suspended', member: id, ended, ...decision });
      return { id, state: 'suspended', suspended_at: isoTime(since), ended };
    },

    /** Lifts a suspension. The grants that it ended stay ended. */
    async resumeMember(id: string, decision: CommandedBy) {
      await endAll({ member: id }, 'member_resumed', decision);
      await suspensions.end(id);
      audit({ action: 'member_resumed', member: id, ...decision });
      return { id, state: 'active' };
    },
  };
}

function stateOf(since: number | undefined) {
  return { state: since === undefined ? 'active' : 'suspended', suspended_at: isoTime(since) } as const;
}

function clientCommands(
  { grants, store, clock, audit }: Core,
  endAll: EndAll,
  removeClient: (id: string) => Promise<void>,
) {
  const blocks = storedClientBlocks(store, clock);
  const clients = storedClients(store, grants, blocks);
  const revokeClient = async (id: string, decision: CommandedBy) => {
    const ended = await endAll({ client: id }, 'client_revoked', decision);
    audit({ action: 'client_revoked', clientId: id, ended, ...decision });
    return { id, ended };
  };
  return {
    listClients: clients.list,
    describeClient: clients.describe,

    /** The app may ask members again. */
    revokeClient,

    /** Ends the grants of every app: each may ask its members again. Safe to repeat after a failure. */
    async revokeClients(decision: CommandedBy) {
      for (let ended = 0; ; ) {
        const before = ended;
        for (let from: string | undefined, begun = false; !begun || from !== undefined; begun = true) {
          const scanned = await store.scan(['Grant'], from, SCANNED);
          const ids = new Set(scanned.entries.map((entry) => toGrant(entry).clientId));
          for (const id of ids) ended += (await revokeClient(id, decision)).ended;
          from = scanned.next;
        }
        // Another pass, for grants that were made during this one.
        if (ended === before) return { ended };
      }
    },

    /** Also makes the gate treat the app as unknown until it is enabled. Throws `not_found` for an unknown app. */
    async disableClient(id: string, decision: CommandedBy) {
      const { host } = await clients.require(id);
      const since = await blocks.begin(id);
      const ended = await endAll({ client: id }, 'client_revoked', decision);
      audit({ action: 'client_disabled', clientId: id, clientHost: host, ended, ...decision });
      return { id, state: 'disabled', disabled_at: isoTime(since), ended };
    },

    /** Lifts the block. The grants that it ended stay ended. */
    async enableClient(id: string, decision: CommandedBy) {
      // Grants that were created between the block and the end of all grants.
      await endAll({ client: id }, 'client_revoked', decision);
      await blocks.end(id);
      audit({ action: 'client_enabled', clientId: id, ...decision });
      return { id, state: 'enabled' };
    },

    /** The app may register again, or present its metadata document again. Throws `not_found` for an unknown app. */
    async deleteClient(id: string, decision: CommandedBy) {
      const { kind, host } = await clients.require(id);
      const ended = await endAll({ client: id }, 'client_deleted', decision);
      if (kind === 'registered') await removeClient(id);
      else await store.commit([{ op: 'delete', kind: 'ClientDocument', id }], 'vital');
      audit({ action: 'client_deleted', clientId: id, clientHost: host, ended, ...decision });
      return { id, ended };
    },
  };
}

function grantCommands({ grants, store, audit }: Core) {
  return {
    /** The grants of a member or an app. */
    listGrants: (of: GrantsOf) => grantList(store, grants, of),

    /** Ends one grant of any member. Throws `not_found`. */
    async revokeGrant(id: string, decision: CommandedBy) {
      const grant = await grants.find(id);
      const why = { by: decision.by, reason: 'grant_revoked', note: decision.reason } as const;
      if (grant === undefined || !(await grants.revoke(id, { member: grant.member }, why)))
        throw new GatewayError('not_found', { message: 'No active grant has this id.' });
      const { member, clientId } = grant;
      audit({ action: 'grant_ended', grantId: id, member, clientId, ...decision });
      return { id, member, client_id: clientId, ended: 1 };
    },

    /** Ends all grants of one member to one app, also those that are made meanwhile. The app may ask the member again. */
    async revokeApp(member: string, clientId: string, decision: CommandedBy) {
      const why = { by: decision.by, reason: 'grant_revoked', note: decision.reason } as const;
      for (let count = 0; ; ) {
        const listed = await grants.list({ member }, MOST_OF_A_MEMBER);
        const ids = listed.filter((grant) => grant.clientId === clientId).map(({ id }) => id);
        const ended = await grants.revokeEach(ids, { member }, why);
        for (const { id: grantId } of ended) audit({ action: 'grant_ended', grantId, member, clientId, ...decision });
        count += ended.length;
        if (ended.length === 0) return { id: member, client_id: clientId, ended: count };
      }
    },
  };
}

function registrationCommands({ store, clock, audit }: Core) {
  const closed = registrationSwitch(store, clock);
  return {
    /** Since when no new apps are accepted, in Unix seconds; undefined if they are. */
    registrationClosedSince: closed.since,

    /** Refuses apps that are new. Those that are known keep working. */
    async closeRegistration(decision: CommandedBy) {
      const since = await closed.begin();
      audit({ action: 'registration_closed', ...decision });
      return { state: 'closed', closed_at: isoTime(since) };
    },

    /** New apps are accepted again. */
    async openRegistration(decision: CommandedBy) {
      await closed.end();
      audit({ action: 'registration_opened', ...decision });
      return { state: 'open' };
    },
  };
}
