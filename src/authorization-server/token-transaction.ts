import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type EndReason, grantCreated } from '../events/event.ts';
import type { AuditAction } from '../operations/audit.ts';
import type { Store } from '../storage/store.ts';
import type { CodeOrRefreshToken, Recalled } from './answer-replay.ts';
import { clientHost } from './client-host.ts';
import { ENDPOINTS } from './endpoints.ts';
import { describeClient, eventClient } from './event-client.ts';
import { revocations, toGrant } from './grants.ts';
import type { InteractionParts } from './interactions/interaction-parts.ts';
import { replacedIn } from './refresh-family.ts';
import { leftOut } from './rules/lost-scopes.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';
import { redeemed } from './unredeemed.ts';

type Oidc = KoaContextWithOIDC['oidc'];
type Source = NonNullable<Oidc['entities']['AuthorizationCode'] | Oidc['entities']['RefreshToken']>;

type GrantType = 'authorization_code' | 'refresh_token';

/** Remembers how codes, or refresh tokens, were used. */
interface Uses {
  /** Adds to the unit what is written in the same commit as the new tokens. */
  remember(presented: CodeOrRefreshToken, body: Readonly<Record<string, unknown>>, unit: UnitOfWork): void;
  recall(presented: CodeOrRefreshToken): Promise<Recalled>;
}

/** Audit actions and error texts of the two grant types. */
const OF = {
  authorization_code: {
    done: 'token_issued',
    reuse: 'code_reuse',
    reused: 'the code was used before; what was issued for it is revoked',
  },
  refresh_token: {
    done: 'token_refreshed',
    reuse: 'refresh_token_reuse',
    reused: 'the refresh token was used before; the connection is revoked, the member must approve again',
  },
} as const satisfies Record<GrantType, Record<string, AuditAction | string>>;

/** Error descriptions for requests that are refused without ending the connection. */
const REFUSED: Partial<Readonly<Record<Recalled['kind'], string>>> = {
  repeated: 'the code was redeemed before, by the same request: if you lost its response, authorize again',
  'another-question':
    'the refresh token was used before with another scope, resource or DPoP key: use the one that replaced it',
};

const AHEAD =
  'the refresh token is newer than what is stored here, which was restored to an earlier state: the member must approve again';

/**
 * Runs each revocation in one commit, so that it is complete or not begun, and each token request in a unit of work
 * that is committed before the response is written. Only the commit tells whether a code or refresh token was used
 * before. If it was, a repeated refresh gets the same answer again, a repeated exchange of a code is refused, and a reuse
 * ends the connection.
 */
export function tokenTransaction(
  provider: Provider,
  { store, audit, outbox }: Pick<InteractionParts, 'store' | 'audit' | 'outbox'>,
  uses: Readonly<Record<GrantType, Uses> & { refresh_token: { failed(): void } }>,
): void {
  // An app repeats a refresh that failed, and may succeed only after the window of the answer that it lost.
  provider.use(async (ctx, next) => {
    let status = 500;
    try {
      await next();
      ({ status } = ctx);
    } finally {
      if (ctx.path === ENDPOINTS.token && status >= 500) uses.refresh_token.failed();
    }
  });
  provider.on('grant.revoked', (ctx, grantId) => {
    ctx.state.revokedGrant = grantId;
  });

  const describe = (clientId: string) => describeClient(store, clientId);
  /** Adds the event for a grant that is about to end in this unit. */
  const tellEnded = async (unit: UnitOfWork, grantId: string, by: 'app' | 'gate', reason: EndReason) => {
    const grant = await store.get('Grant', grantId);
    if (grant === undefined) return;
    for (const written of await revocations(describe, outbox, [toGrant(grant)], { by, reason })) unit.remove(written);
  };
  const tellCreated = async (unit: UnitOfWork, { client, entities }: Oidc): Promise<void> => {
    const { AuthorizationCode: code } = entities;
    if (code?.grantId === undefined || client === undefined || !outbox.active) return;
    const found = await unit.get('Grant', code.grantId);
    if (found === undefined) return;
    const grant = toGrant(found);
    const app = eventClient(client, code.redirectUri);
    for (const entry of outbox.entries(grantCreated({ ...grant, client: app }, grant.expiresAt))) unit.put(entry);
  };

  provider.use(async (ctx, next) => {
    if (ctx.path !== ENDPOINTS.token && ctx.path !== ENDPOINTS.revocation) return next();
    const unit = await removingAtOnce(store, next, async (unit) => {
      if (ctx.path !== ENDPOINTS.revocation) return;
      const grantId = revokedGrant(ctx);
      if (grantId !== undefined) await tellEnded(unit, grantId, 'app', 'token_revoked');
      else await store.commit([], 'vital');
    });
    const { oidc } = ctx as unknown as KoaContextWithOIDC;
    const tell = (action: AuditAction, grantId: string | undefined, member: string | undefined, reason?: string) =>
      audit({
        action,
        clientId: oidc.client?.clientId,
        clientName: oidc.client?.clientName,
        clientHost: clientHost(oidc.client?.redirectUris?.[0]),
        grantId,
        member,
        reason,
        ...(action === 'token_revoked' ? { by: 'app' } : {}),
      });

    if (ctx.path === ENDPOINTS.revocation) {
      // RFC 7009 section 2.2 leaves the body open. Some clients parse it as JSON, whatever it is.
      if (ctx.status === 200) ctx.body = {};
      const { AccessToken, RefreshToken } = oidc.entities;
      const grantId = revokedGrant(ctx);
      if (grantId !== undefined) tell('token_revoked', grantId, (RefreshToken ?? AccessToken)?.accountId);
      return;
    }
    const source = sourceOf(oidc);
    const { kind, payload } = unit.presented ?? {};
    if (kind === 'ahead' && payload?.clientId === oidc.client?.clientId && ctx.status === 400) {
      ctx.body = { error: 'invalid_grant', error_description: AHEAD };
      tell('refresh_token_ahead', payload?.grantId, payload?.accountId);
    }
    // An app that is told that its connection has ended must be able to rely on it, also after a failover.
    if (ctx.status === 400 && unit.hasRead) await store.commit([], 'vital');
    if (ctx.status !== 200 || source === undefined) return;

    const presented = presentedIn(oidc, source);
    const grantType = source.kind === 'AuthorizationCode' ? 'authorization_code' : 'refresh_token';
    const of = OF[grantType];
    const { grantId, accountId } = source;
    uses[grantType].remember(presented, ctx.body as Record<string, unknown>, unit);
    if (grantType === 'authorization_code') {
      unit.add(redeemed(presented.grantId));
      await tellCreated(unit, oidc);
    }
    // A refresh keeps a connection alive, a code starts one.
    if (await unit.commit(grantType === 'refresh_token' ? 'vital' : 'ordinary')) {
      tell(of.done, grantId, accountId, leftOut(oidc) ? 'role' : undefined);
      return;
    }

    const recalled = await uses[grantType].recall(presented);
    if (recalled.kind === 'answer') {
      await store.commit([], 'vital');
      ctx.body = recalled.body;
      tell('token_answer_replayed', grantId, accountId);
      return;
    }
    // An old copy was presented, so everything issued from it must end (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2).
    const isCopy = recalled.kind === 'reused' || (recalled.kind === 'unknown' && unit.usedBefore);
    // If someone has ended the connection since the token was read, what is known of its use is gone, and nothing is left to end.
    const reused = isCopy && (await store.get('Grant', presented.grantId)) !== undefined;
    if (isCopy && !reused) await store.commit([], 'vital');
    if (reused) {
      await removingAtOnce(
        store,
        () => endGrant(provider, presented.grantId),
        (ending) => tellEnded(ending, presented.grantId, 'gate', of.reuse),
      );
      tell(of.reuse, grantId, accountId);
    }
    if (recalled.kind === 'repeated') tell('code_repeated', grantId, accountId);
    const refused = REFUSED[recalled.kind] ?? 'it was used at the same time by another request';
    ctx.status = 400;
    ctx.body = { error: 'invalid_grant', error_description: reused ? of.reused : refused };
  });
}

/**
 * Runs `work` in a unit of work, calls `add` for what must accompany its removals, and commits the removals. Its other
 * writes are not committed.
 */
async function removingAtOnce(
  store: Store,
  work: () => Promise<void>,
  add: (unit: UnitOfWork) => Promise<void>,
): Promise<UnitOfWork> {
  const unit = new UnitOfWork(store);
  await withinUnitOfWork(unit, work);
  await add(unit);
  await unit.commitRemovals();
  return unit;
}

/** The grant that a revocation request has ended. */
function revokedGrant({ state }: { readonly state: { revokedGrant?: string } }): string | undefined {
  return state.revokedGrant;
}

/** The code, or the refresh token that was replaced. */
function sourceOf({ entities }: Oidc): Source | undefined {
  return replacedIn(entities) ?? entities.AuthorizationCode;
}

function presentedIn({ params, entities }: Oidc, { jti: value, grantId = '' }: Source): CodeOrRefreshToken {
  const { scope, resource } = params ?? {};
  const question = JSON.stringify([scope ?? null, resource ?? null, entities.AccessToken?.jkt ?? null]);
  return { value, grantId, question };
}

async function endGrant(provider: Provider, grantId: string): Promise<void> {
  await Promise.all([
    provider.AccessToken.revokeByGrantId(grantId),
    provider.RefreshToken.revokeByGrantId(grantId),
    provider.AuthorizationCode.revokeByGrantId(grantId),
  ]);
  await (await provider.Grant.find(grantId))?.destroy();
}
