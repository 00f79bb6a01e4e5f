import { isObject, type JsonObject, objectOf } from '../../../http/json-object.ts';
import { strings, text } from '../answer.ts';
import { askTools, type ListedTool, messageIn, needsMember, objects, type ToolServer } from './tools.ts';

/** The response to a call. `refused`: the call failed, and why in words; `characters`: the length of its content. */
type ToolResult = Awaited<ReturnType<typeof callTool>>;

/** A tool that was called, and with which arguments. */
export interface ToolCall extends ToolResult {
  readonly tool: ListedTool;
  readonly args: JsonObject;
}

const MOST_CALLS = 20;
/** Levels of a result in which values for later calls are looked for. */
const DEEPEST = 5;

export async function callTool(server: ToolServer, name: string, args: JsonObject) {
  const answer = await askTools(server, 'tools/call', { name, arguments: args });
  if (answer.cut) return { name, refused: undefined, content: {}, characters: Number.POSITIVE_INFINITY };
  const { result, error } = messageIn(answer) ?? {};
  const { content, structuredContent, isError } = objectOf(result);
  const texts = objects(content)
    .flatMap((part) => text(part.text) ?? [])
    .join(' ');
  const why = isObject(result) ? texts.slice(0, 200) : `${answer.status} ${text(objectOf(error).message) ?? ''}`;
  return {
    name,
    refused: isObject(result) && isError !== true ? undefined : why.trim(),
    content: objectOf(structuredContent),
    characters: Math.max(texts.length, JSON.stringify(structuredContent ?? '').length),
  };
}

/**
 * Calls every tool that is read-only and open to this caller, with the arguments that it requires: values that its schema
 * suggests, or that earlier results had. A tool for which there are none is left out.
 */
export async function callReaders(server: ToolServer, tools: readonly ListedTool[]): Promise<readonly ToolCall[]> {
  const required = ({ inputSchema }: ListedTool) => strings(inputSchema.required);
  const readers = tools.filter(
    (tool) => tool.annotations.readOnlyHint === true && (server.token !== undefined || !needsMember(tool)),
  );
  const seen = new Map<string, unknown>();
  const calls: ToolCall[] = [];
  // What lists records gives the arguments of what looks up one.
  const simplestFirst = readers.toSorted((a, b) => required(a).length - required(b).length);
  for (const tool of simplestFirst.slice(0, MOST_CALLS)) {
    const properties = objectOf(tool.inputSchema.properties);
    const args = Object.fromEntries(
      required(tool).map((name) => [name, valueFor(name, objectOf(properties[name]), seen)]),
    );
    if (Object.values(args).includes(undefined)) continue;
    const call = { ...(await callTool(server, tool.name, args)), tool, args };
    note(seen, call.content);
    calls.push(call);
  }
  return calls;
}

/** Words that every catalogue can be searched for. */
const SEARCH = /^(q|query|search|text|keywords?|term)$/i;

function valueFor(name: string, schema: JsonObject, seen: ReadonlyMap<string, unknown>): unknown {
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined);
  const known = schema.const ?? schema.default ?? first(schema.examples) ?? first(schema.enum) ?? seen.get(name);
  if (known !== undefined) return known;
  const type = first([schema.type].flat());
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  return type === 'string' && SEARCH.test(name) ? 'course' : undefined;
}

/** Notes the first text or number of each name in a result. */
function note(seen: Map<string, unknown>, content: object, depth = 0): void {
  for (const [name, value] of Object.entries(content)) {
    if ((typeof value === 'string' || typeof value === 'number') && !seen.has(name)) seen.set(name, value);
    else if (typeof value === 'object' && value !== null && depth < DEEPEST) note(seen, value, depth + 1);
  }
}
