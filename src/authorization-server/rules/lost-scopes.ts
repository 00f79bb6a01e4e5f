import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { RoleScopes } from '../../roles/role-scopes.ts';
import { ENDPOINTS } from '../endpoints.ts';

/**
 * The scopes that a token for an audience may have. At the token endpoint, where the member is known, those are left
 * out whose role the member does not have, which `leftOut` remembers for the audit.
 */
export async function scopesWithRole(
  ctx: KoaContextWithOIDC,
  scopes: readonly string[],
  roleScopes: Pick<RoleScopes, 'held'>,
): Promise<readonly string[]> {
  const { Grant: grant, AuthorizationCode: code, RefreshToken: refresh } = ctx.oidc.entities;
  if (ctx.path !== ENDPOINTS.token || grant?.accountId === undefined) return scopes;
  // Only what the app was given decides whether the roles have to be asked for.
  const given = (refresh ?? code)?.scopes ?? new Set();
  const wanted = new Set(scopes.filter((scope) => given.has(scope)));
  const held = await roleScopes.held(grant.accountId, wanted);
  if (held !== wanted) LEFT_OUT.add(ctx.oidc);
  return [...held];
}

const LEFT_OUT = new WeakSet<KoaContextWithOIDC['oidc']>();

/** Whether a token was issued without a scope of its grant, because the member does not have the role for it. */
export function leftOut(oidc: KoaContextWithOIDC['oidc']): boolean {
  return LEFT_OUT.has(oidc);
}

/** Leaves the same scopes out of introspection responses (RFC 7662 section 2.2). */
export function lostScopeRule(provider: Provider, roleScopes: Pick<RoleScopes, 'held'>): void {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== ENDPOINTS.introspection || ctx.status !== 200) return;
    const { AccessToken: access, RefreshToken: refresh } = ctx.oidc.entities;
    const member = (access ?? refresh)?.accountId;
    const body = ctx.body as { readonly active: boolean; readonly scope?: string };
    const scope = parseScope(body.scope ?? '');
    if (!body.active || member === undefined || scope === undefined || body.scope === undefined) return;
    ctx.body = { ...body, scope: formatScope(await roleScopes.held(member, scope)) };
  });
}
