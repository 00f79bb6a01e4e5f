import { isObject, type JsonObject, objectOf } from '../../../http/json-object.ts';
import { jsonObject, mediaType, type SiteAnswer, text } from '../answer.ts';
import type { Ask } from '../ask.ts';
import { mcpQuestion } from '../facts/mcp-endpoint.ts';
import { Unavailable } from '../unavailable.ts';

/** A tool as `tools/list` describes it. */
export type ListedTool = ReturnType<typeof listedTool>;

/** Where tools are, and the token to call them with. */
export interface ToolServer {
  readonly ask: Ask;
  readonly url: string;
  readonly token?: string | undefined;
}

/** Pages of a list that are read. A list that goes on has more tools than any directory takes. */
const MOST_PAGES = 20;

/** Sends a request of a 2025-11-25 client. */
export function askTools({ ask, url, token }: ToolServer, method: string, params: object): Promise<SiteAnswer> {
  return ask(url, mcpQuestion(method, params, token === undefined ? {} : { authorization: `Bearer ${token}` }));
}

/** The JSON-RPC message in a response: a JSON body, or the first event of a stream. */
export function messageIn(answer: SiteAnswer): JsonObject | undefined {
  if (mediaType(answer) !== 'text/event-stream') return jsonObject(answer);
  const data = answer.text.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []));
  return jsonObject({ ...answer, text: data.join('') });
}

/** The result of a request. Throws Unavailable with the status and the error if there is none. */
async function resultOf(server: ToolServer, method: string, params: object): Promise<JsonObject> {
  const answer = await askTools(server, method, params);
  const { result, error } = messageIn(answer) ?? {};
  if (isObject(result)) return result;
  if (answer.status === 401 && server.token === undefined)
    throw new Unavailable(
      'the tools are for members only: give an access token of the reviewers’ account with --token',
    );
  throw new Unavailable(`${method} is answered ${answer.status} ${text(objectOf(error).message) ?? ''}`.trim());
}

/** All listed tools. Throws Unavailable if they are not listed to this caller. */
export async function listTools(server: ToolServer): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page === 0 || (cursor !== undefined && page < MOST_PAGES); page += 1) {
    const result = await resultOf(server, 'tools/list', cursor === undefined ? {} : { cursor });
    tools.push(...objects(result.tools).map(listedTool));
    cursor = text(result.nextCursor);
  }
  return tools;
}

/** A card that a tool shows in the chat: its URI, its HTML, and `_meta.ui` of its resource (MCP Apps 2026-01-26). */
export type ListedCard = Awaited<ReturnType<typeof readCard>>;

/** Reads a card. Throws Unavailable if it cannot be read. */
export async function readCard(server: ToolServer, name: string) {
  const [first] = objects((await resultOf(server, 'resources/read', { uri: name })).contents);
  return { name, html: text(first?.text) ?? '', ui: objectOf(objectOf(first?._meta).ui) };
}

/** Parses a description of a tool. */
export function listedTool(given: JsonObject) {
  const [annotations, meta] = [objectOf(given.annotations), objectOf(given._meta)];
  return {
    name: text(given.name) ?? '',
    /** '' if it has none. */
    title: text(given.title) ?? text(annotations.title) ?? '',
    description: text(given.description) ?? '',
    inputSchema: objectOf(given.inputSchema),
    outputSchema: objectOf(given.outputSchema),
    annotations,
    /** What it needs; none if it does not say. */
    schemes: objects(meta.securitySchemes ?? given.securitySchemes),
    /** The URI of its card. */
    card: text(objectOf(meta.ui).resourceUri),
  };
}

/** Whether a tool needs a token, as far as it says so. */
export function needsMember({ schemes }: ListedTool): boolean {
  return schemes.length > 0 && schemes.every(({ type }) => type !== 'noauth');
}

/** The objects in a list; none for anything else. */
export const objects = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);
