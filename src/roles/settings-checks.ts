import type { UntracedProblem } from '../config/problems.ts';
import { parseMatch, segmentNames } from '../config/route.ts';
import { keysAt, listAt, type Path, type Tree, valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';
import { parseRule, placesOf, type RoleRule } from './settings-rule.ts';

/**
 * Checks the roles that scopes, routes and tools need: that the gate can ask for them, and that the course is where
 * they look for it. Takes the merged settings before they are validated; the schema reports a role of the wrong
 * form.
 */
export function checkRoles(tree: Tree): readonly UntracedProblem[] {
  const within = (path: Path, check: (rule: RoleRule, path: Path) => string | undefined) => {
    const given = valueAt(tree, [...path, 'role']);
    const rule = given === undefined ? undefined : parseRule(given);
    const message = rule && (unanswered(tree, rule) ?? check(rule, path));
    return message === undefined ? [] : [{ path: [...path, 'role'], at: 'value' as const, message }];
  };
  const indexes = (...path: string[]) => listAt(tree, path).map((_, index): Path => [...path, index]);
  return [
    ...withoutQuestion(tree),
    ...keysAt(tree, ['scopes']).flatMap((name) => within(['scopes', name], ofScope)),
    ...indexes('routes').flatMap((path) => within(path, (rule) => ofRoute(tree, path, rule))),
    ...indexes('mcp', 'tools').flatMap((path) => within(path, (rule) => ofTool(valueAt(tree, path), rule))),
  ];
}

/** whoami takes a member's session, which is not there for a refresh, or when a role has to be asked for again. */
function withoutQuestion(tree: Tree): readonly UntracedProblem[] {
  if (!isObject(tree.roles) || tree.roles.upstream !== undefined || tree.roles.path !== undefined) return [];
  const recheck = valueAt(tree, ['login', 'recheck']);
  if (isObject(recheck) && (recheck.format ?? 'json') === 'json') return [];
  const message =
    'needs `upstream` and `path`, or a `login.recheck` in JSON: the gate asks for roles again while the member is away, and whoami cannot say them then';
  return [{ path: ['roles'], at: 'key', message }];
}

function unanswered(tree: Tree, rule: RoleRule): string | undefined {
  if (tree.roles === undefined) return 'needs `roles`, which says where the gate asks for the roles of a member';
  const missing = rule.map(({ course }) => (course === undefined ? 'school' : 'courses'));
  const key = missing.find((one) => valueAt(tree, ['roles', one]) === undefined);
  return key && `needs \`roles.${key}\`, which says where the answer has such roles`;
}

function ofScope(rule: RoleRule): string | undefined {
  if (placesOf(rule).length === 0) return undefined;
  return 'must be a role at the school or of any course: a scope is for requests to many courses';
}

function ofRoute(tree: Tree, path: Path, rule: RoleRule): string | undefined {
  const match = String(valueAt(tree, [...path, 'match']));
  const { methods } = parseMatch(match);
  for (const { in: where, name } of placesOf(rule)) {
    if (where === 'args') return 'must be {path.NAME}, {query.NAME} or {body.NAME}: a route has no arguments';
    if (where === 'path' && !segmentNames(match).has(name)) return `needs a segment {${name}} in \`match\``;
    if (where === 'query' && methods?.every((method) => method === 'GET') !== true)
      return 'can be {query.NAME} for GET only: in other requests, a body could say another course';
    if (where === 'body' && methods?.every((method) => WITH_BODY.has(method)) !== true)
      return 'can be {body.NAME} for POST, PUT and PATCH only: servers disagree on bodies of other requests';
    if (where === 'body' && valueAt(tree, [...path, 'forwardedBy']) === 'gateway')
      return 'can be {body.NAME} only where coursegate forwards the requests: a gateway does not show it their bodies';
  }
  if ((valueAt(tree, [...path, 'anonymous']) ?? tree.anonymous) !== 'serve') return undefined;
  return 'needs a member, but this route serves requests without a token: set `anonymous: refuse`';
}

function ofTool(tool: unknown, rule: RoleRule): string | undefined {
  if (listAt(tool, ['scopes']).length === 0) return 'needs a member: name the scopes of the tool, too';
  const required = listAt(tool, ['input', 'required']);
  const wrong = placesOf(rule).find(({ in: where, name }) => where !== 'args' || !required.includes(name));
  if (wrong === undefined) return undefined;
  return wrong.in === 'args'
    ? `needs an input "${wrong.name}": name it in input.required`
    : 'must be {args.NAME}: a tool has neither a path nor a query nor a body';
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
