import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Store } from '../storage/store.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { RefreshReplay } from './refresh-replay.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';

type RotatedRefreshToken = NonNullable<KoaContextWithOIDC['oidc']['entities']['RefreshToken']>;

/**
 * Runs each revocation in one commit, so that it is done or not begun, and each token request in a unit of work that is
 * committed before the answer is written. A code that another request redeemed first is refused; a refresh token that
 * another request of the same client has just replaced is given that request's answer; one whose successor was used
 * already is an old copy, and ends the connection.
 */
export function tokenTransaction(provider: Provider, store: Store, replay: RefreshReplay): void {
  provider.use(async (ctx, next) => {
    if (ctx.path !== ENDPOINTS.token && ctx.path !== ENDPOINTS.revocation) return next();
    const unit = await removingAtOnce(store, next);
    if (ctx.path === ENDPOINTS.revocation || ctx.status !== 200) return;

    const { oidc } = ctx as unknown as KoaContextWithOIDC;
    const replaced = (oidc.entities as { RotatedRefreshToken?: RotatedRefreshToken }).RotatedRefreshToken;
    const question = questionOf(oidc);
    if (replaced !== undefined) {
      const { jti: refreshToken, grantId = '' } = replaced;
      unit.put(replay.remember({ refreshToken, grantId, question, body: ctx.body as Record<string, unknown> }));
    }
    if (await unit.commit()) return;

    const recalled = replaced === undefined ? undefined : await replay.recall(replaced.jti, question);
    if (recalled?.kind === 'answer') {
      ctx.body = recalled.body;
      return;
    }
    if (recalled?.kind === 'superseded') {
      await removingAtOnce(store, () => endGrant(provider, replaced?.grantId ?? ''));
    }
    ctx.status = 400;
    ctx.body = {
      error: 'invalid_grant',
      error_description:
        recalled?.kind === 'superseded'
          ? 'the refresh token was used before; the connection is revoked, the member must approve again'
          : 'it was used at the same time by another request',
    };
  });
}

/** Out: the unit that `work` ran in, whose removals are committed and whose writes are not. */
async function removingAtOnce(store: Store, work: () => Promise<void>): Promise<UnitOfWork> {
  const unit = new UnitOfWork(store);
  await withinUnitOfWork(unit, work);
  await unit.commitRemovals();
  return unit;
}

/** What a token request asked for besides what it presented. */
function questionOf(oidc: KoaContextWithOIDC['oidc']): string {
  const { scope, resource } = oidc.params ?? {};
  return JSON.stringify([scope ?? null, resource ?? null, oidc.entities.AccessToken?.jkt ?? null]);
}

async function endGrant(provider: Provider, grantId: string): Promise<void> {
  await Promise.all([
    provider.AccessToken.revokeByGrantId(grantId),
    provider.RefreshToken.revokeByGrantId(grantId),
    provider.AuthorizationCode.revokeByGrantId(grantId),
  ]);
  await (await provider.Grant.find(grantId))?.destroy();
}
