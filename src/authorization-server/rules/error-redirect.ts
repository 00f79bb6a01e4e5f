import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import type { Store } from '../../storage/store.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { isLoopback } from './loopback.ts';

/**
 * RFC 9700 §4.11.2: an authorization error is not redirected to a client that nobody ever approved. Anyone can register
 * one here, so the redirect would make us a redirector to any address for whoever sends a member a broken link. The
 * member sees a page instead. A loopback address leads no further than their own computer, and is redirected to.
 */
export function errorRedirectRule(provider: Provider, store: Store): void {
  const approved = new WeakSet<object>();

  provider.use(async (ctx, next) => {
    const clientId = ctx.query.client_id;
    if (ctx.path === ENDPOINTS.authorization && typeof clientId === 'string') {
      const grants = await store.findBy('Grant', 'client', clientId, 1);
      if (grants.length > 0) approved.add(ctx.req);
    }
    await next();
  });

  const judge = (ctx: KoaContextWithOIDC, error: Error) => {
    const redirectUri = ctx.oidc.params?.redirect_uri;
    const trusted = approved.has(ctx.req) || (typeof redirectUri === 'string' && isLoopback(redirectUri));
    if (ctx.oidc.route !== 'authorization' || trusted) return;
    (error as errors.OIDCProviderError).allow_redirect = false;
    // Some errors (login_required) bring the status of the redirect that does not happen.
    if (ctx.status < 400) ctx.status = 400;
  };
  provider.on('authorization.error', judge);
}
