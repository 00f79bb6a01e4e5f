import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import type { Principal } from '../oauth/principal.ts';
import { routeRole } from '../roles/route-role.ts';
import { ownRecord, routedBy } from '../upstream/own-record.ts';
import { parameterNames } from '../upstream/parameter-name.ts';
import type { CallForPrincipal, UpstreamRequest } from '../upstream/request.ts';
import { createRewrite } from '../upstream/rewrite.ts';
import { createRouting } from '../upstream/routing.ts';
import { fillPath, fillPlaceholders, fillQuery, placeholders, targetOf } from './argument-template.ts';
import { type BuiltAction, memberOf } from './tool.ts';
import { withoutRole } from './tool-role.ts';
import { readAnswer, send } from './upstream-action.ts';

const REQUEST = /^(GET|POST|PUT|PATCH|DELETE) (\/[^\s?#\\;]*)$/;

export interface RouteParts {
  readonly routes: readonly RouteConfig[];
  /** What a route without its own setting does with requests that have no token. */
  readonly anonymous: 'refuse' | 'serve';
  readonly call: CallForPrincipal;
  readonly rolesOf: RolesOf;
}

/**
 * Creates an action that sends the request an app would send to a configured route: to the same upstream, with the
 * route's scopes, role, rewriting and own-record guard. Inputs that are not in the path become the query of a GET or DELETE,
 * and the JSON body of other methods. `query` is sent beside them. Returns a mistake if the request cannot be built.
 */
export function routeAction(
  request: string,
  { routes, anonymous, call, rolesOf }: RouteParts,
  {
    inputs,
    scoped,
    query: fixed = {},
  }: { inputs: readonly string[]; scoped: boolean; query?: Readonly<Record<string, string>> },
): BuiltAction | { readonly mistake: string } {
  const [, method, template = ''] = REQUEST.exec(request) ?? [];
  if (method === undefined) return { mistake: 'must be a method and a path, such as "GET /api/v1/orders/{id}"' };
  const routing = createRouting(routes.map((value) => ({ ...routedBy(value), value })));
  // A value cannot leave its segment of the path, so one value finds the route of all values.
  const found = routing(
    method,
    fillPlaceholders(template, () => 'x'),
  );
  if (found.kind !== 'route') return { mistake: 'is a request that no route matches' };
  const { upstream, scopes, match, query = {}, body: members = {}, rewrite } = found.route.value;
  if (!scoped && (found.route.value.anonymous ?? anonymous) === 'refuse') {
    return { mistake: 'is a request that the route serves to members only: name the scopes it needs' };
  }
  const { pattern } = parseMatch(match);
  const own = [...Object.keys(query), ...Object.keys(members)];
  const names = own.length > 0 ? parameterNames(own) : undefined;
  const guard = ownRecord(pattern, Object.keys(query), names);
  const role = routeRole(found.route.value, rolesOf, Number.POSITIVE_INFINITY);
  const rewriteFor = rewrite === undefined ? undefined : createRewrite(pattern, rewrite);
  const inPath = placeholders(template);
  const others = inputs.filter((name) => !inPath.includes(name));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const asQuery = { ...Object.fromEntries(hasBody ? [] : others.map((name) => [name, `{${name}}`])), ...fixed };

  return {
    readOnly: method === 'GET',
    scopes,
    role: found.route.value.role,
    approve: method !== 'GET' && found.route.value.approve,
    async act(input, context) {
      const { principal } = context;
      const path = fillPath(template, input, principal);
      const still = routing(method, path);
      if (still.kind !== 'route' || still.route.value !== found.route.value) {
        throw new GatewayError('invalid_request', { message: 'The arguments have values that cannot be used.' });
      }
      const target = guard({ path, query: fillQuery(asQuery, input, principal) }, principal);
      if (target === undefined)
        return { kind: 'failed', message: 'This is the record of another member.', undone: true };
      const body = hasBody ? { body: JSON.stringify(bodyOf(input, principal)) } : {};
      const inBody = role?.body?.inJson(body.body ?? '');
      if (role !== undefined && !(await role.isHeld(memberOf(principal), target, { method, headers: {} }, inBody)))
        return withoutRole(role.refusal);
      const at = targetOf(rewriteFor?.(principal).inward(target.path) ?? target.path, target.query);
      const request = { upstream, method: method as UpstreamRequest['method'], path: at, ...body };
      return readAnswer(await send(request, principal.kind === 'member', context, call));
    },
  };

  /** Members that the route fills with the member's id take precedence over inputs of the same name. */
  function bodyOf(input: Readonly<Record<string, unknown>>, principal: Principal): object {
    const given = others.filter((name) => Object.hasOwn(input, name) && names?.inJson(name) !== true);
    const set = Object.keys(members).map((name) => [name, principal.kind === 'member' ? principal.sub : undefined]);
    return Object.fromEntries([...given.map((name) => [name, input[name]]), ...set]);
  }
}
