import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import { currentRequest } from '../../http/current-request.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import type { ProviderSettings } from '../provider.ts';
import { isLoopback } from './loopback.ts';

/**
 * Redirects authorization errors only in the browser of a member who has approved the app (RFC 9700 section 4.11.2).
 * Anyone can register an app here and approve it themselves, so any other redirect would let an attacker send people
 * who open a broken link to an address of the attacker's choice. Everyone else sees an error page. There are two
 * exceptions: a loopback address leads no further than the member's own computer, and a decision the member made on our
 * pages is always sent to the app.
 *
 * The login connector is asked only if there is an error to redirect and somebody has approved the app, so all other
 * requests, including `prompt=none`, cost nothing extra. If it cannot identify the member, the page is shown.
 */
export function errorRedirectRule(
  provider: Provider,
  {
    grants,
    connector,
    renderErrorPage,
  }: Pick<InteractionParts, 'grants' | 'connector'> & Pick<ProviderSettings, 'renderErrorPage'>,
): void {
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, thrown: Error) => {
    const error = thrown as errors.OIDCProviderError;
    const { params, client, route } = ctx.oidc;
    const redirectUri = params?.redirect_uri;
    const leadsAway = typeof redirectUri === 'string' && !isLoopback(redirectUri);
    if (!error.allow_redirect || client === undefined || !leadsAway || isDecision(ctx))
      ctx.state.redirected = undefined;
    else if (route === 'authorization' || route === 'resume') ctx.state.redirected = error;
  });

  const approvedHere = async ({ oidc, req }: KoaContextWithOIDC): Promise<boolean> => {
    const { client } = oidc;
    const current = currentRequest();
    if (client === undefined || current === undefined) return false;
    try {
      if ((await grants.list({ client: client.clientId }, 1)).length === 0) return false;
      const member = await connector.identify(req.headers, current.provenance);
      return member !== undefined && (await grants.held(member.sub, client.clientId)) !== undefined;
    } catch {
      return false;
    }
  };

  provider.use(async (plain, next) => {
    await next();
    const ctx = plain as unknown as KoaContextWithOIDC;
    const error = ctx.state.redirected as errors.OIDCProviderError | undefined;
    if (error === undefined || ctx.respond === false || (await approvedHere(ctx))) return;
    // Removes what the library has already prepared: a redirect, or a form that submits itself.
    ctx.body = null;
    ctx.remove('Location');
    ctx.status = 400;
    renderErrorPage(ctx, error.error, error.error_description ?? '');
  });
}

/** Whether the member pressed a button on our page. The result is an answer to the app, in the member's own browser. */
function isDecision({ oidc }: KoaContextWithOIDC): boolean {
  return oidc.route === 'resume' && oidc.entities.Interaction?.result?.error !== undefined;
}
