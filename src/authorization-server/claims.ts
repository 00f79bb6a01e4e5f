import type Provider from 'oidc-provider';
import type { ClaimsConfig } from '../config/claims.ts';
import type { Member } from '../login/connector.ts';
import { MEMBER_DETAILS } from '../oauth/member-details.ts';
import { parseScope, type Scope } from '../oauth/scope.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Members } from './members.ts';

/** The custom claims that these scopes release: configured constants, and the values from the last sign-in. */
export function releasedClaims(claims: ClaimsConfig, member: Member, scope: Scope): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(claims).flatMap(([name, { scope: needed, value, from }]) => {
      const said = from === undefined ? value : member.claims?.[name];
      return scope.has(needed) && said !== undefined ? [[name, said]] : [];
    }),
  );
}

/** The names of all claims by the scope that releases them, as the metadata lists them. */
export function claimsByScope(claims: ClaimsConfig): Record<string, string[]> {
  const names: Record<string, string[]> = { openid: ['sub'], email: ['email_verified'] };
  const details = Object.values(MEMBER_DETAILS).map(({ claim, scope }) => [claim, { scope }] as const);
  for (const [name, { scope }] of [...details, ...Object.entries(claims)])
    names[scope] = [...(names[scope] ?? []), name];
  return names;
}

/** Adds the custom claims to token responses, where some clients read them. */
export function tokenResponseClaims(provider: Provider, members: Members, claims: ClaimsConfig): void {
  if (Object.keys(claims).length === 0) return;
  provider.use(async (ctx, next) => {
    await next();
    const token = ctx.path === ENDPOINTS.token && ctx.status === 200 ? ctx.oidc.entities.AccessToken : undefined;
    const member = token === undefined ? undefined : await members.find(token.accountId);
    if (token === undefined || member === undefined) return;
    ctx.body = {
      ...releasedClaims(claims, member, parseScope(token.scope ?? '') ?? new Set()),
      ...(ctx.body as object),
    };
  });
}
