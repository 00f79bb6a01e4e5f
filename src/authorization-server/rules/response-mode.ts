import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/**
 * Refuses `form_post` for clients without a secret while the pages share their origin with the site. The code would be
 * on a page that a service worker of the site can read, and whoever reads the code of such a client can redeem it, if
 * the request was theirs.
 */
export function responseModeRule(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  if (params?.response_mode !== 'form_post' || client?.clientAuthMethod !== 'none') return;
  throw new errors.InvalidRequest('response_mode=form_post needs a client with a secret: use query');
}
