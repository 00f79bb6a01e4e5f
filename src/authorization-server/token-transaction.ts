import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type EndReason, grantCreated } from '../events/event.ts';
import type { Outbox } from '../events/outbox.ts';
import type { Audit, AuditAction } from '../operations/audit.ts';
import type { Store } from '../storage/store.ts';
import type { AnswerReplay, Presented, Recalled } from './answer-replay.ts';
import { clientHost } from './client-host.ts';
import { ENDPOINTS } from './endpoints.ts';
import { describeClient, eventClient } from './event-client.ts';
import { revocations, toGrant } from './grants.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';

type Oidc = KoaContextWithOIDC['oidc'];
type Entities = Oidc['entities'] & { readonly RotatedRefreshToken?: Oidc['entities']['RefreshToken'] };
type Source = NonNullable<Oidc['entities']['AuthorizationCode'] | Oidc['entities']['RefreshToken']>;

export interface TokenTransactionOptions {
  readonly store: Store;
  readonly replay: AnswerReplay;
  readonly audit: Audit;
  /** Events for the backend are written in the commit that makes the change. */
  readonly outbox: Outbox;
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
} as const satisfies Record<Presented['grantType'], Record<string, AuditAction | string>>;

/**
 * Runs each revocation in one commit, so that it is complete or not begun, and each token request in a unit of work
 * that is committed before the response is written. Only the commit tells whether a code or refresh token was used
 * before. If it was, a repeated request gets the same answer again, and a reuse ends the connection.
 */
export function tokenTransaction(provider: Provider, { store, replay, audit, outbox }: TokenTransactionOptions): void {
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
      const grantId = ctx.path === ENDPOINTS.revocation ? revokedGrant(ctx) : undefined;
      if (grantId !== undefined) await tellEnded(unit, grantId, 'app', 'token_revoked');
    });
    const { oidc } = ctx as unknown as KoaContextWithOIDC;
    const tell = (action: AuditAction, grantId: string | undefined, member: string | undefined) =>
      audit({
        action,
        clientId: oidc.client?.clientId,
        clientName: oidc.client?.clientName,
        clientHost: clientHost(oidc.client?.redirectUris?.[0]),
        grantId,
        member,
        ...(action === 'token_revoked' ? { by: 'app' } : {}),
      });

    if (ctx.path === ENDPOINTS.revocation) {
      const { AccessToken, RefreshToken } = oidc.entities;
      const grantId = revokedGrant(ctx);
      if (grantId !== undefined) tell('token_revoked', grantId, (RefreshToken ?? AccessToken)?.accountId);
      return;
    }
    const source = sourceOf(oidc);
    if (ctx.status !== 200 || source === undefined) return;

    const presented = presentedIn(oidc, source);
    const of = OF[presented.grantType];
    const { grantId, accountId } = source;
    for (const mutation of replay.remember(presented, ctx.body as Record<string, unknown>)) unit.add(mutation);
    if (presented.grantType === 'authorization_code') await tellCreated(unit, oidc);
    // A refresh keeps a connection alive, a code starts one.
    if (await unit.commit(presented.grantType === 'refresh_token' ? 'vital' : 'ordinary')) {
      tell(of.done, grantId, accountId);
      return;
    }

    const recalled = await replay.recall(presented);
    if (recalled.kind === 'answer') {
      ctx.body = recalled.body;
      tell('token_answer_replayed', grantId, accountId);
      return;
    }
    const reused = isReuse(presented, recalled.kind, unit.usedBefore);
    if (reused) {
      await removingAtOnce(
        store,
        () => endGrant(provider, presented.grantId),
        (ending) => tellEnded(ending, presented.grantId, 'gate', of.reuse),
      );
      tell(of.reuse, grantId, accountId);
    }
    ctx.status = 400;
    ctx.body = {
      error: 'invalid_grant',
      error_description: reused ? of.reused : 'it was used at the same time by another request',
    };
  });
}

/**
 * Whether an old copy was presented, so that everything issued from it must end (RFC 6749 section 4.1.2, RFC 9700
 * section 4.14.2).
 * @param recalled - what is remembered about its use
 * @param usedBefore - whether it was already used when this request read it
 */
function isReuse({ grantType }: Presented, recalled: Recalled['kind'], usedBefore: boolean): boolean {
  if (recalled === 'superseded') return true;
  // Real clients refresh twice at once for different scopes. No client redeems a code with two different requests.
  if (recalled === 'another-question') return grantType === 'authorization_code';
  return usedBefore;
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
function sourceOf(oidc: Oidc): Source | undefined {
  const { AuthorizationCode, RotatedRefreshToken } = oidc.entities as Entities;
  return RotatedRefreshToken ?? AuthorizationCode;
}

function presentedIn(oidc: Oidc, source: Source): Presented {
  const { scope, resource, code_verifier } = oidc.params ?? {};
  const question = JSON.stringify([scope ?? null, resource ?? null, oidc.entities.AccessToken?.jkt ?? null]);
  const { jti: value, grantId = '' } = source;
  return source.kind === 'AuthorizationCode'
    ? { grantType: 'authorization_code', value, verifier: String(code_verifier), grantId, question }
    : { grantType: 'refresh_token', value, verifier: '', grantId, question };
}

async function endGrant(provider: Provider, grantId: string): Promise<void> {
  await Promise.all([
    provider.AccessToken.revokeByGrantId(grantId),
    provider.RefreshToken.revokeByGrantId(grantId),
    provider.AuthorizationCode.revokeByGrantId(grantId),
  ]);
  await (await provider.Grant.find(grantId))?.destroy();
}
