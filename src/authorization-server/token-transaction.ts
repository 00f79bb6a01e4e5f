import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Provenance } from '../http/provenance.ts';
import type { Audit, AuditAction } from '../operations/audit.ts';
import type { Store } from '../storage/store.ts';
import type { AnswerReplay, Presented, Recalled } from './answer-replay.ts';
import { clientHost } from './client-host.ts';
import { ENDPOINTS } from './endpoints.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';

type Oidc = KoaContextWithOIDC['oidc'];
type Entities = Oidc['entities'] & { readonly RotatedRefreshToken?: Oidc['entities']['RefreshToken'] };
type Source = NonNullable<Oidc['entities']['AuthorizationCode'] | Oidc['entities']['RefreshToken']>;

export interface TokenTransactionOptions {
  readonly store: Store;
  readonly replay: AnswerReplay;
  readonly audit: Audit;
  /** Where a request that oidc-provider was given came from. */
  readonly provenanceOf: (request: IncomingMessage) => Provenance | undefined;
}

/** What the events and texts of the two kinds are. */
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
 * Runs each revocation in one commit, so that it is done or not begun, and each token request in a unit of work that is
 * committed before the answer is written. The commit alone tells whether a code or refresh token was used before: then
 * the same request is given the answer that was given already, and what is no such retry ends the connection.
 */
export function tokenTransaction(
  provider: Provider,
  { store, replay, audit, provenanceOf }: TokenTransactionOptions,
): void {
  const revokedGrants = new WeakMap<object, string>();
  provider.on('grant.revoked', (ctx, grantId) => revokedGrants.set(ctx, grantId));

  provider.use(async (ctx, next) => {
    if (ctx.path !== ENDPOINTS.token && ctx.path !== ENDPOINTS.revocation) return next();
    const unit = await removingAtOnce(store, next);
    const { oidc } = ctx as unknown as KoaContextWithOIDC;
    const tell = (action: AuditAction, grantId: string | undefined, member: string | undefined) =>
      audit({
        action,
        clientId: oidc.client?.clientId,
        clientName: oidc.client?.clientName,
        clientHost: clientHost(oidc.client),
        grantId,
        member,
        address: provenanceOf(ctx.req)?.clientAddress,
        requestId: provenanceOf(ctx.req)?.requestId,
        ...(action === 'token_revoked' ? { by: 'app' } : {}),
      });

    if (ctx.path === ENDPOINTS.revocation) {
      const { AccessToken, RefreshToken } = oidc.entities;
      const grantId = revokedGrants.get(ctx);
      if (grantId !== undefined) tell('token_revoked', grantId, (RefreshToken ?? AccessToken)?.accountId);
      return;
    }
    const source = sourceOf(oidc);
    if (ctx.status !== 200 || source === undefined) return;

    const presented = presentedIn(oidc, source);
    const of = OF[presented.grantType];
    const { grantId, accountId } = source;
    for (const entry of replay.remember(presented, ctx.body as Record<string, unknown>)) unit.put(entry);
    if (await unit.commit()) {
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
      await removingAtOnce(store, () => endGrant(provider, presented.grantId));
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
 * RFC 6749 §4.1.2, RFC 9700 §4.14.2: whether what was presented is an old copy, so that all that came of it must end.
 * In: what is recalled of it, and whether it was used already when this request read it.
 */
function isReuse({ grantType }: Presented, recalled: Recalled['kind'], usedBefore: boolean): boolean {
  if (recalled === 'superseded') return true;
  // Refreshing twice at once for different scopes is what real clients do. Nobody redeems a code for two things.
  if (recalled === 'another-question') return grantType === 'authorization_code';
  return usedBefore;
}

/** Out: the unit that `work` ran in, whose removals are committed and whose writes are not. */
async function removingAtOnce(store: Store, work: () => Promise<void>): Promise<UnitOfWork> {
  const unit = new UnitOfWork(store);
  await withinUnitOfWork(unit, work);
  await unit.commitRemovals();
  return unit;
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
