import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { formatScope, parseScope } from '../../oauth/scope.ts';

/**
 * RFC 6749 §3.3 at the authorization endpoint: a scope that is not in the catalogue is `invalid_scope`, never silently
 * dropped; no scope at all means the default. `offline_access` alone is tolerated and ignored: clients in the field ask
 * for it unadvertised, and a refresh token is issued without it.
 * Judges what the client sent, because oidc-provider has already filtered the parameter it hands over: the query, or at
 * the pushed request endpoint the body (RFC 9126 §2.1). A pushed request was judged there, and the query that later
 * names it says nothing (RFC 9126 §4).
 */
export function scopeRule(catalogue: ReadonlySet<string>, defaultScope: readonly string[]) {
  return (ctx: KoaContextWithOIDC): void => {
    if (ctx.oidc.entities.PushedAuthorizationRequest !== undefined) return;
    const raw = ctx.oidc.route === 'pushed_authorization_request' ? ctx.oidc.body?.scope : ctx.query.scope;
    if (raw !== undefined && typeof raw !== 'string') return; // a duplicate: refused by name elsewhere
    const requested = parseScope(raw ?? '');
    if (requested === undefined) throw new errors.InvalidScope('scope contains characters that no scope has', '');
    const known = [...requested].filter((token) => token !== 'offline_access');
    const unknown = known.filter((token) => !catalogue.has(token));
    if (unknown.length > 0) {
      throw new errors.InvalidScope(`no such scope: ${formatScope(unknown)}`, formatScope(unknown));
    }
    if (ctx.oidc.params !== undefined) ctx.oidc.params.scope = formatScope(known.length > 0 ? known : defaultScope);
  };
}
