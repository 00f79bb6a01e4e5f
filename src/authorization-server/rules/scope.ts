import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { formatScope, parseScope } from '../../oauth/scope.ts';

/**
 * Checks the scope at the authorization endpoint (RFC 6749 section 3.3). A scope that is not in the catalogue is
 * `invalid_scope`, never silently dropped; a missing scope means the default. `offline_access` is tolerated and
 * ignored: real clients ask for it although it is not advertised, and a refresh token is issued without it.
 *
 * Checks what the client sent, because oidc-provider has already filtered the parameter that it passes: the query or,
 * at the pushed request endpoint, the body (RFC 9126 section 2.1). A pushed request was checked there, and the query
 * that refers to it later contains nothing to check (RFC 9126 section 4).
 */
export function scopeRule(catalogue: ReadonlySet<string>, defaultScope: readonly string[]) {
  return (ctx: KoaContextWithOIDC): void => {
    if (ctx.oidc.entities.PushedAuthorizationRequest !== undefined) return;
    const raw = ctx.oidc.route === 'pushed_authorization_request' ? ctx.oidc.body?.scope : ctx.query.scope;
    if (raw !== undefined && typeof raw !== 'string') return; // a duplicate parameter has its own error elsewhere
    const requested = parseScope(raw ?? '');
    if (requested === undefined) throw new errors.InvalidScope('scope contains characters that no scope has', '');
    const known = [...requested].filter((token) => token !== 'offline_access');
    const unknown = known.filter((token) => !catalogue.has(token));
    if (unknown.length > 0)
      throw new errors.InvalidScope(`no such scope: ${formatScope(unknown)}`, formatScope(unknown));
    if (ctx.oidc.params !== undefined) ctx.oidc.params.scope = formatScope(known.length > 0 ? known : defaultScope);
  };
}
