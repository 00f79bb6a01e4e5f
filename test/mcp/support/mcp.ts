import { authorizationRequest, redeem, registerApp } from '../../support/app.ts';
import { approve, SAM } from '../../support/member.ts';
import type { World } from '../../support/world.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is judged field by field
  readonly body: any;
}

export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a body to the tool interface unchanged. */
export async function post(world: World, body: string | Uint8Array, sent: Sent = {}): Promise<Reply> {
  const response = await fetch(`${world.origin}${sent.path ?? '/mcp'}`, {
    method: sent.method ?? 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(sent.token === undefined ? {} : { authorization: `Bearer ${sent.token}` }),
      ...sent.headers,
    },
    body: body as string,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let lastId = 0;

/** A request as clients before 2026-07-28 send it. */
export function ask(world: World, method: string, params: object = {}, sent: Sent = {}): Promise<Reply> {
  lastId += 1;
  return post(world, JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }), {
    ...sent,
    headers: { 'mcp-protocol-version': '2025-11-25', ...sent.headers },
  });
}

export const VERSION = '2026-07-28';

/** What every request of revision 2026-07-28 carries. */
export function envelope(client = 'test'): object {
  return {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
  };
}

/** A request of revision 2026-07-28, with headers that match its body. */
export function askModern(
  world: World,
  method: string,
  params: Record<string, unknown> = {},
  sent: Sent & { client?: string } = {},
): Promise<Reply> {
  lastId += 1;
  const named = params.name ?? params.uri;
  const message = { jsonrpc: '2.0', id: lastId, method, params: { ...params, _meta: envelope(sent.client) } };
  return post(world, JSON.stringify(message), {
    ...sent,
    headers: {
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      ...sent.headers,
    },
  });
}

export const call = (world: World, name: string, args: object = {}, sent: Sent = {}) =>
  ask(world, 'tools/call', { name, arguments: args }, sent);

/** The names of the tools that a caller sees. */
export async function toolNames(world: World, sent: Sent = {}): Promise<string[]> {
  const { body } = await ask(world, 'tools/list', {}, sent);
  return body.result.tools.map(({ name }: { name: string }) => name);
}

/** A member's access token for these scopes. */
export async function tokenOf(
  world: World,
  scope = 'openid account:read',
  member: { login: string; password: string } = SAM,
): Promise<string> {
  const app = await registerApp(world.origin);
  const request = await authorizationRequest(app, { scope });
  const returned = await approve(request.url, app.redirectUri, { member });
  return (await redeem(app, request, returned)).access_token;
}
