import type { EndReason } from '../../events/event.ts';
import { SIGN_IN_KIND } from '../../login/sign-in-session.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Store } from '../../storage/store.ts';
import type { Grants, GrantsOf, StandingGrant } from '../grants.ts';
import type { Members } from '../members.ts';
import type { Suspensions } from './suspensions.ts';

/** Who decided, and why: for the audit. */
export interface Decision {
  readonly by: 'backend' | 'operator';
  readonly reason: string | undefined;
  /** The subject of the client certificate it came with. */
  readonly certificate: string | undefined;
  readonly address: string | undefined;
  readonly requestId: string | undefined;
}

/** What the school can look up and decide about its members, and about the apps they let in. */
export interface AccountControl {
  describeMember(member: string): Promise<object>;
  /** Ends everything the member has granted. Out: how many grants. May be called again. */
  revokeMember(member: string, decision: Decision): Promise<object>;
  /** The same, and nothing is granted, issued or renewed any more until the member is resumed. */
  suspendMember(member: string, decision: Decision): Promise<object>;
  resumeMember(member: string, decision: Decision): Promise<object>;
  describeClient(client: string): Promise<object>;
  /** Ends everything that members have granted the app. It may ask them again. */
  revokeClient(client: string, decision: Decision): Promise<object>;
}
// Every method throws GatewayError `store_unavailable`.

export interface AccountControlOptions {
  readonly grants: Grants;
  readonly members: Members;
  readonly suspensions: Suspensions;
  readonly store: Store;
  readonly audit: Audit;
}

/** Grants that one answer lists. */
const LISTED = 200;

/**
 * What is answered is done: the commit that ends a grant takes its codes and tokens with it, and a token request under
 * way commits only if what it exchanges is still there. A suspension is written before the grants are ended and goes
 * when a member is resumed only after what slipped in between is ended too.
 */
export function createAccountControl(options: AccountControlOptions): AccountControl {
  const { grants, members, suspensions, store, audit } = options;

  const endAll = async (of: GrantsOf, reason: EndReason, decision: Decision): Promise<number> => {
    // Who was cut off must not approve by what a browser still holds.
    if ('member' in of) {
      await store.commit([{ op: 'deleteBy', kind: SIGN_IN_KIND, name: 'member', value: of.member }]);
    }
    const why = { by: decision.by, reason, note: decision.reason };
    return grants.revokeAll(of, why, ({ id, member, clientId }) =>
      audit({ action: 'grant_ended', grantId: id, member, clientId, ...decision }),
    );
  };
  const tell = (action: 'member_revoked' | 'member_suspended', member: string, ended: number, decision: Decision) =>
    audit({ action, member, clientId: undefined, grantId: undefined, ended, ...decision });

  return {
    async describeMember(id) {
      const [since, known, listed] = await Promise.all([
        suspensions.since(id),
        members.find(id),
        grants.list({ member: id }, LISTED + 1),
      ]);
      return {
        id,
        state: since === undefined ? 'active' : 'suspended',
        ...(since === undefined ? {} : { suspended_at: isoTime(since) }),
        // An id that no sign-in has ever given is more likely a mistake than a member.
        known: known !== undefined,
        ...listOf(listed),
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

    async describeClient(id) {
      return { id, ...listOf(await grants.list({ client: id }, LISTED + 1)) };
    },

    async revokeClient(id, decision) {
      const ended = await endAll({ client: id }, 'client_revoked', decision);
      audit({ action: 'client_revoked', member: undefined, clientId: id, grantId: undefined, ended, ...decision });
      return { id, ended };
    },
  };
}

function listOf(grants: readonly StandingGrant[]): object {
  return {
    grants: grants.slice(0, LISTED).map((grant) => ({
      id: grant.id,
      member: grant.member,
      client_id: grant.clientId,
      scopes: grant.scopes,
      resources: grant.resources,
      granted_at: isoTime(grant.grantedAt),
      ...(grant.expiresAt === undefined ? {} : { expires_at: isoTime(grant.expiresAt) }),
    })),
    more: grants.length > LISTED,
  };
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
