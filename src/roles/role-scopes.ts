import type { ScopeConfig } from '../config/schema.ts';
import type { ActiveToken, Introspect, Introspection } from '../oauth/introspection.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import type { Scope } from '../oauth/scope.ts';
import { coursesMeeting, meets, type RoleRule } from './settings-rule.ts';

/** What a member may be asked for, and in how many courses a scope applies to them if not at the whole school. */
export interface OfferedScopes {
  readonly scopes: Scope;
  readonly courses: ReadonlyMap<string, ReturnType<typeof coursesMeeting>>;
}

/** The scopes that need a role. Every method throws, or rejects with, GatewayError `login_unavailable`. */
export type RoleScopes = ReturnType<typeof createRoleScopes>;

/** @param catalogue every scope of the configuration */
export function createRoleScopes(catalogue: Readonly<Record<string, ScopeConfig>>, rolesOf: RolesOf) {
  const rules: ReadonlyMap<string, RoleRule> = new Map(
    Object.entries(catalogue).flatMap(([token, { role }]) => (role === undefined ? [] : [[token, role] as const])),
  );
  const needRole = (scopes: Scope) => rules.size > 0 && [...scopes].some((token) => rules.has(token));
  const nowhere = () => undefined;

  const held = (sub: string, scopes: Scope): Scope | Promise<Scope> => {
    if (!needRole(scopes)) return scopes;
    const among = (roles: Awaited<ReturnType<RolesOf>>): Scope => {
      const left = [...scopes].filter((token) => meets(rules.get(token) ?? [], roles, nowhere) || !rules.has(token));
      return left.length === scopes.size ? scopes : new Set(left);
    };
    const roles = rolesOf(sub);
    return roles instanceof Promise ? roles.then(among) : among(roles);
  };

  return {
    /** Those of the scopes whose role the member has, or that need none. The same object if that is all of them. */
    held,
    async offered(sub: string, scopes: Scope): Promise<OfferedScopes> {
      if (!needRole(scopes)) return { scopes, courses: new Map() };
      const [left, roles] = await Promise.all([held(sub, scopes), rolesOf(sub)]);
      const limited = [...left].flatMap((token) => {
        const rule = rules.get(token);
        return rule === undefined ? [] : [[token, coursesMeeting(rule, roles)] as const];
      });
      return { scopes: left, courses: new Map(limited) };
    },
    /** Leaves out of each answer what the member no longer has the role for. */
    introspect: (ask: Introspect): Introspect => (rules.size === 0 ? ask : withoutLost(ask, held)),
  };
}

function withoutLost(ask: Introspect, held: RoleScopes['held']): Introspect {
  // The same object for as long as a token is cached and the roles are the same: the gate keeps a principal by it.
  const before = new WeakMap<ActiveToken, ActiveToken>();
  const narrowed = (token: ActiveToken, scope: Scope): ActiveToken => {
    if (scope === token.scope) return token;
    const known = before.get(token);
    if (known?.scope.size === scope.size && [...scope].every((one) => known.scope.has(one))) return known;
    const now = { ...token, scope };
    before.set(token, now);
    return now;
  };
  const narrow = (token: Introspection): Introspection | Promise<Introspection> => {
    if (!token.active) return token;
    const scope = held(token.sub, token.scope);
    return scope instanceof Promise ? scope.then((left) => narrowed(token, left)) : narrowed(token, scope);
  };
  return (value) => {
    const token = ask(value);
    return token instanceof Promise ? token.then(narrow) : narrow(token);
  };
}
