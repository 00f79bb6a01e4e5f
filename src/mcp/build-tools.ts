import type { PrepareOperation } from '../account/prepared-operation.ts';
import type { UntracedProblem } from '../config/problems.ts';
import type { ToolConfig } from '../config/schema.ts';
import { valueAt } from '../config/tree.ts';
import type { QuestionParts } from './approval-questions.ts';
import { type Card, type Cards, cardOf } from './cards/cards.ts';
import { graphqlAction } from './graphql-action.ts';
import { KEY_ARGUMENT, KEY_SCHEMA } from './idempotency-key.ts';
import { type CompileSchema, schemaCompiler, type ValueCheck } from './json-schema.ts';
import { type AnswerMapping, compileMapping } from './mapping.ts';
import { type RouteParts, routeAction } from './route-action.ts';
import { runner, type ToolRun } from './run-tool.ts';
import type { Action, BuiltAction, Tool, ToolDescriptor } from './tool.ts';
import { actionWithRole } from './tool-role.ts';
import type { ServerActionOf } from './tool-server/server-action.ts';
import { getAction } from './upstream-action.ts';

export interface ToolParts extends RouteParts, Pick<ToolRun, 'hide' | 'longestText' | 'largestResult' | 'onError'> {
  readonly tools: readonly ToolConfig[];
  /**
   * Prepares documents of the Account API; undefined when it is not served, which leaves out the tools that use it.
   */
  readonly prepare: PrepareOperation | undefined;
  readonly cards: Cards;
  /** Holds the calls of a tool with `approve`. */
  readonly hold: (config: ToolConfig, built: BuiltAction, asking: QuestionParts) => Action;
  /** Creates the action of a tool with `server`. */
  readonly serverAction: ServerActionOf;
}

/** Builds the configured tools, in order, and returns them with every mistake in their configuration. */
export function buildTools(parts: ToolParts): {
  readonly tools: readonly Tool[];
  readonly findings: readonly UntracedProblem[];
} {
  const findings: UntracedProblem[] = [];
  const compile = schemaCompiler();
  const tools = parts.tools.flatMap((config, index): Tool[] => {
    if (config.graphql !== undefined && parts.prepare === undefined) return [];
    const wrong = (path: readonly string[], message: string): void => {
      findings.push({ path: ['mcp', 'tools', index, ...path], at: 'value', message });
    };
    const checkInput = schemaOf(compile, inputSchema(config), 'input', wrong);
    const checkOutput =
      config.output === undefined ? undefined : schemaOf(compile, outputSchema(config.output), 'output', wrong);
    const mapping = mappingOf(config, wrong);
    checkPaging(config, wrong);
    const built = actionOf(config, parts, wrong);
    if (built === undefined) return [];
    if (config.paging !== undefined && !built.readOnly)
      wrong(['paging'], 'is only for read-only tools, because the call is repeated for the rest');
    checkApproval(config, built.readOnly, wrong);
    const lacking = [...built.scopes].filter((scope) => !config.scopes.includes(scope));
    if (lacking.length > 0) wrong(['scopes'], `must have ${lacking.join(', ')}, which what it does needs`);
    const { name, paging, role } = config;
    // A request that its route holds is held as a call of the tool, whose words the member reads.
    const held = config.approve || built.approve === true;
    for (const key of ['dryRun', 'titles'] as const)
      if (!held && Object.keys(config[key] ?? {}).length > 0) wrong([key], 'is only for tools with `approve`');
    // A member without the role is not asked.
    const act = actionWithRole(
      role,
      parts.rolesOf,
      held ? parts.hold(config, built, { parts, inputs: Object.keys(propertiesOf(config)), wrong }) : built.act,
    );
    const call = runner({ ...parts, ...built, act, name, paging, checkInput, checkOutput, mapping });
    // Not for a tool that defines an input of that name itself.
    const takesKey = !built.readOnly && !Object.hasOwn(propertiesOf(config), KEY_ARGUMENT);
    const descriptor = describe(config, built.readOnly, takesKey, parts.cards.get(cardOf(config) ?? ''));
    const roles = [role, built.role].filter((rule) => rule !== undefined);
    return [{ name, scopes: new Set(config.scopes), roles, descriptor, takesKey, call }];
  });
  return { tools, findings };
}

type Wrong = (path: readonly string[], message: string) => void;

function schemaOf(
  compile: CompileSchema,
  schema: ToolDescriptor['inputSchema'],
  key: 'input' | 'output',
  wrong: Wrong,
): ValueCheck {
  const check = compile(schema);
  if (typeof check === 'function') return check;
  wrong([key], check.mistake);
  return () => undefined;
}

function mappingOf({ result }: ToolConfig, wrong: Wrong): AnswerMapping {
  if (result === undefined) return (source) => source;
  const mapping = compileMapping(result);
  if (typeof mapping === 'function') return mapping;
  wrong(['result', ...mapping.path], mapping.mistake);
  return () => undefined;
}

function actionOf(config: ToolConfig, parts: ToolParts, wrong: Wrong): BuiltAction | undefined {
  const { prepare, call } = parts;
  const { graphql, get, route, server } = config;
  const scoped = config.scopes.length > 0;
  if (graphql !== undefined && prepare !== undefined) {
    const all = Object.keys(propertiesOf(config));
    const built = graphqlAction(graphql, { all, required: requiredOf(config) }, prepare);
    if (!('mistake' in built)) return built;
    wrong(['graphql'], built.mistake);
  } else if (get !== undefined) {
    return { act: getAction(get, scoped, call), readOnly: true, scopes: [] };
  } else if (route !== undefined) {
    const built = routeAction(route, parts, { inputs: Object.keys(propertiesOf(config)), scoped });
    if (!('mistake' in built)) return built;
    wrong(['route'], built.mistake);
  } else if (server !== undefined) {
    const readOnly = config.annotations.readOnlyHint === true;
    if (!scoped && !readOnly) wrong(['scopes'], 'must name a scope: only a tool with readOnlyHint may be public');
    return { ...parts.serverAction(config, server), readOnly, scopes: [] };
  }
  return undefined;
}

function checkApproval({ approve, scopes }: ToolConfig, readOnly: boolean, wrong: Wrong): void {
  if (!approve) return;
  if (readOnly) wrong(['approve'], 'is only for tools that change something: this one only reads');
  if (scopes.length === 0) wrong(['approve'], 'is only for tools with scopes: without a member, nobody could approve');
}

/** Reports names that do not exist, or that cannot hold the cursor of a page. */
function checkPaging({ paging, result, input, output }: ToolConfig, wrong: Wrong): void {
  if (paging === undefined) return;
  const { of, argument, next, more } = paging;
  const among = (schema: object | undefined) =>
    (valueAt(schema, ['properties']) ?? {}) as Readonly<Record<string, unknown>>;
  const takes = (schema: unknown, type: string) =>
    [valueAt(schema, ['type']) ?? type].flat().includes(type) && valueAt(schema, ['enum']) === undefined;
  if (result !== undefined && !Object.hasOwn(result, of)) wrong(['paging', 'of'], 'is not a name in result');
  if (!Object.hasOwn(among(input), argument)) wrong(['paging', 'argument'], 'is not an input');
  else if (!takes(among(input)[argument], 'string'))
    wrong(['paging', 'argument'], 'must be an input that accepts text');
  if (output === undefined) return;
  for (const [key, name, type] of [
    ['next', next, 'string'],
    ['more', more, 'boolean'],
  ] as const) {
    if (name === undefined) continue;
    if (!Object.hasOwn(among(output), name)) wrong(['paging', key], 'is not a name in output');
    else if (!takes(among(output)[name], type)) wrong(['paging', key], `must be allowed to be a ${type} by output`);
  }
}

function propertiesOf({ input }: ToolConfig): Readonly<Record<string, unknown>> {
  return typeof input.properties === 'object' && input.properties !== null ? { ...input.properties } : {};
}

function requiredOf({ input }: ToolConfig): readonly string[] {
  return Array.isArray(input.required) ? input.required.map(String) : [];
}

/** Arguments are an object of the named inputs only, unless the operator allows others. */
function inputSchema({ input }: ToolConfig): ToolDescriptor['inputSchema'] {
  return { properties: {}, additionalProperties: false, ...input, type: 'object' };
}

function outputSchema(output: Readonly<Record<string, unknown>>): ToolDescriptor['inputSchema'] {
  return { ...output, type: 'object' };
}

function withKey(schema: ToolDescriptor['inputSchema']): ToolDescriptor['inputSchema'] {
  return { ...schema, properties: { ...(schema.properties as object), [KEY_ARGUMENT]: KEY_SCHEMA } };
}

/**
 * Clients show these hints to the user before a call, so the operator cannot override the most important one,
 * `readOnlyHint`.
 */
export function describe(
  config: ToolConfig,
  readOnly: boolean,
  takesKey: boolean,
  card: Card | undefined,
): ToolDescriptor {
  const { name, title, description, output, scopes, annotations } = config;
  return {
    name,
    title,
    description,
    inputSchema: takesKey ? withKey(inputSchema(config)) : inputSchema(config),
    ...(output === undefined ? {} : { outputSchema: outputSchema(output) }),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: !readOnly && annotations.destructiveHint !== false,
      idempotentHint: annotations.idempotentHint ?? readOnly,
      openWorldHint: annotations.openWorldHint ?? false,
    },
    _meta: {
      securitySchemes: scopes.length === 0 ? [{ type: 'noauth' }] : [{ type: 'oauth2', scopes }],
      ...(card && { ui: { resourceUri: card.uri } }),
    },
  };
}
