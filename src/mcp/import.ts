import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { UNDESCRIBED } from '../config/warnings.ts';
import { routedBy } from '../upstream/own-record.ts';
import { createRouting } from '../upstream/routing.ts';
import { fillPlaceholders, placeholders } from './argument-template.ts';
import { type ApiOperation, MOST_SCHEMAS, type OperationInput, operationsOf } from './openapi-operations.ts';
import { proposePaging } from './propose-paging.ts';

/** A proposed tool, in the form of the configuration file, for the operator to review and edit. */
export interface ToolProposal {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly input?: object;
  readonly output?: object;
  readonly annotations?: object;
  readonly route?: string;
  readonly server?: object;
  readonly result?: object;
  readonly paging?: object;
}

export interface Proposals {
  readonly tools: readonly ToolProposal[];
  /** What was left out and why. */
  readonly notes: readonly string[];
}

/**
 * Common names for the id of the calling member. In a path it is filled in by the gate; elsewhere it is not offered as
 * an input.
 */
export const MEMBER = /^(member|user|customer|student)[._-]?(id|uid|uuid)$/i;

/** A tool without scopes is public, so nothing is proposed without scopes. */
const NO_SCOPE = 'its route names no scope';

/**
 * Proposes a tool for each operation of an OpenAPI document (3.0 or 3.1) that is covered by a route, because the route
 * gives the scopes it needs. Operations that may change something are proposed only with `writes`. Throws TypeError if
 * the document is not OpenAPI 3.
 */
export function proposeFromOpenApi(
  document: unknown,
  routes: readonly RouteConfig[],
  options: { readonly writes: boolean },
): Proposals {
  const routing = createRouting(routes.map((value) => ({ ...routedBy(value), value })));
  return collect(
    operationsOf(document).map((operation) => {
      const { method, path, tooLarge } = operation;
      const found = routing(
        method,
        fillPlaceholders(path, () => 'x'),
      );
      if (found.kind !== 'route') return `${method} ${path}: no route matches it`;
      if (method !== 'GET' && !options.writes)
        return `${method} ${path}: it may change something; --writes proposes it too`;
      if (found.route.value.scopes.length === 0) return `${method} ${path}: ${NO_SCOPE}`;
      if (tooLarge === true) return `${method} ${path}: its input has more than ${MOST_SCHEMAS} parts`;
      const template = fillPlaceholders(path, (name) => (MEMBER.test(name) ? '{member.id}' : `{${name}}`));
      return propose({ ...operation, path: template }, found.route.value.scopes);
    }),
  );
}

/** Proposes read tools from routes: a list, and a single item if the route covers more than one path. */
export function proposeFromRoutes(routes: readonly RouteConfig[]): Proposals {
  return collect(
    routes.flatMap(({ match, scopes }): readonly (ToolProposal | string)[] => {
      const { methods, pattern } = parseMatch(match);
      if (methods !== undefined && !methods.includes('GET')) return [`${match}: a route does not say what it writes`];
      if (scopes.length === 0) return [`${match}: ${NO_SCOPE}`];
      const open = pattern.endsWith('/**');
      let count = 0;
      const path = (open ? pattern.slice(0, -3) : pattern).replace(/\*\*?/g, () => {
        count += 1;
        return count === 1 ? '{id}' : `{id${count}}`;
      });
      const area = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? 'site';
      const words = area.replace(/[^A-Za-z0-9]+/g, ' ').trim();
      const read = (name: string, title: string, at: string): ToolProposal =>
        propose({ method: 'GET', path: at, name, title, description: undefined, inputs: inputsOf(at) }, scopes);
      const one = `${path}/{id${count === 0 ? '' : count + 1}}`;
      const list = read(`list_${area}`, `List ${words}`, path);
      return open ? [list, read(`get_${area}`, `Get one of ${words}`, one)] : [list];
    }),
  );
}

function inputsOf(path: string): readonly OperationInput[] {
  const names = placeholders(path).filter((name) => name !== 'member.id');
  return names.map((name) => ({ name, required: true, schema: { type: 'string', minLength: 1, maxLength: 200 } }));
}

function propose(operation: ApiOperation, scopes: readonly string[]): ToolProposal {
  const { method, path, name, title, description } = operation;
  const inputs = operation.inputs.filter((input) => !MEMBER.test(input.name));
  const { inputs: all = inputs, ...inParts } = proposePaging({ ...operation, inputs }) ?? {};
  const required = all.filter((input) => input.required).map((input) => input.name);
  const properties = Object.fromEntries(all.map((input) => [input.name, input.schema]));
  return {
    name: toolName(name),
    title: title.slice(0, 80),
    description: (description ?? `${UNDESCRIBED} ${title}.`).slice(0, 2000),
    scopes,
    ...(all.length === 0 ? {} : { input: { properties, ...(required.length === 0 ? {} : { required }) } }),
    route: `${method} ${path}`,
    ...inParts,
  };
}

/** `listMyOrders` and `list my-orders` become `list_my_orders`. */
export function toolName(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_');
  const trimmed = words.toLowerCase().replace(/^_|_$/g, '');
  return trimmed.slice(0, 60) || 'tool';
}

/** Numbers duplicate names, because models call tools by name. */
export function collect(found: readonly (ToolProposal | string)[]): Proposals {
  const used = new Map<string, number>();
  const proposals = found.filter((one) => typeof one !== 'string');
  const tools = proposals.map((one) => {
    const times = (used.get(one.name) ?? 0) + 1;
    used.set(one.name, times);
    return times === 1 ? one : { ...one, name: `${one.name}_${times}` };
  });
  return { tools, notes: found.filter((one) => typeof one === 'string') };
}
