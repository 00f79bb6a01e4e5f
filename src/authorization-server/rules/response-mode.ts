import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/**
 * Refuses `form_post` for clients without a secret while the pages share their origin with the site. The code would be
 * on a page that a service worker of the site can read, and an attacker who made the request with a verifier
 * of their own can redeem the code of such a client.
 */
export function responseModeRule(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  if (params?.response_mode !== 'form_post' || client?.clientAuthMethod !== 'none') return;
  throw new errors.InvalidRequest('response_mode=form_post needs a client with a secret: use query');
}
