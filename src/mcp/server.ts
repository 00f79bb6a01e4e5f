import {
  type CallToolResult,
  type Implementation,
  type McpRequestContext,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import type { McpConfig } from '../config/schema.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';
import { fillPrompt } from './prompts.ts';
import { findResource, type Resource } from './resources.ts';
import type { Outcome, Tool } from './tool.ts';
import { isShown, type SignIn } from './visible.ts';

/** All that there is to offer. */
export interface Offer {
  readonly server: Implementation;
  readonly instructions: string;
  readonly signIn: SignIn;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly prompts: McpConfig['prompts'];
}

/** One request that is being served. */
export interface Served {
  readonly principal: Principal;
  /** What a caller is told who may not use something of these scopes. */
  readonly challenge: (needed: Scope) => Challenge | undefined;
  /** Runs a tool, within its time, and tells the audit. */
  readonly run: (tool: Tool, input: Readonly<Record<string, unknown>>) => Promise<Outcome>;
  readonly onError: (error: unknown) => void;
}

/** Makes the server of one request: from who asks, and the era of the protocol that they speak. */
export type ServerFactory = (served: Served, era: McpRequestContext['era']) => Server | McpServer;

const PAGE = 100;

/**
 * The server of one request: what it answers with is what this principal may know of. The low-level class of the SDK,
 * since our tools are data that was checked at start and is only filtered here.
 */
export function createServer(offer: Offer, served: Served): Server {
  const { signIn } = offer;
  const { principal } = served;
  const shown = (scopes: Scope) => isShown(principal, scopes, signIn);
  const tools = offer.tools.filter(({ scopes }) => shown(scopes));
  const resources = offer.resources.filter(({ tool }) => shown(tool.scopes));
  const lists = listHint(offer, tools.length);
  const server = new Server(offer.server, {
    // Nothing changes while the process runs, and there is no stream to tell it on.
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false, subscribe: false },
      prompts: { listChanged: false },
    },
    instructions: offer.instructions,
    cacheHints: {
      'server/discover': lists,
      'tools/list': lists,
      'resources/list': lists,
      'resources/templates/list': lists,
      'prompts/list': { ttlMs: LIST_LIFE, cacheScope: 'public' },
      'resources/read': { ttlMs: 0, cacheScope: 'private' },
    },
  });

  /** What a handler throws, the SDK sends with its message: only words of ours may get that far. */
  const guarded = async <T>(work: () => Promise<T> | T): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof ProtocolError) throw thrown;
      served.onError(thrown);
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side.');
    }
  };

  server.setRequestHandler('tools/list', ({ params }) =>
    guarded(() => {
      const { page, nextCursor } = pageOf(tools, params?.cursor);
      return { tools: page.map(({ descriptor }) => descriptor), ...nextCursor };
    }),
  );
  server.setRequestHandler('tools/call', ({ params }) =>
    guarded(async () => {
      const tool = offer.tools.find(({ name }) => name === params.name);
      const challenge = tool === undefined ? undefined : served.challenge(tool.scopes);
      if (challenge !== undefined) return challengeResult(challenge);
      // One that is hidden is not there.
      if (tool === undefined || !tools.includes(tool)) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
      }
      return toolResult(await served.run(tool, params.arguments ?? {}));
    }),
  );
  server.setRequestHandler('resources/list', ({ params }) =>
    guarded(() => {
      const { page, nextCursor } = pageOf(
        resources.filter(({ isTemplate }) => !isTemplate),
        params?.cursor,
      );
      return { resources: page.map((one) => ({ uri: one.uri, ...described(one) })), ...nextCursor };
    }),
  );
  server.setRequestHandler('resources/templates/list', ({ params }) =>
    guarded(() => {
      const { page, nextCursor } = pageOf(
        resources.filter(({ isTemplate }) => isTemplate),
        params?.cursor,
      );
      return { resourceTemplates: page.map((one) => ({ uriTemplate: one.uri, ...described(one) })), ...nextCursor };
    }),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    guarded(async () => {
      const found = findResource(resources, uri);
      if (found === undefined || served.challenge(found.resource.tool.scopes) !== undefined) {
        throw new ResourceNotFoundError(uri.slice(0, 200), 'There is no resource of this address.');
      }
      const outcome = await served.run(found.resource.tool, found.input);
      if (outcome.kind === 'failed') {
        throw new ResourceNotFoundError(uri.slice(0, 200), outcome.message);
      }
      const said = remarks(outcome).map((text) => ({ uri, mimeType: 'text/plain', text }));
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(outcome.value) }, ...said] };
    }),
  );
  server.setRequestHandler('prompts/list', ({ params }) =>
    guarded(() => {
      const { page, nextCursor } = pageOf(offer.prompts, params?.cursor);
      return {
        prompts: page.map(({ name, title, description, arguments: given }) => ({
          name,
          title,
          ...(description === undefined ? {} : { description }),
          arguments: given.map((one) => ({
            name: one.name,
            required: one.required,
            ...(one.description === undefined ? {} : { description: one.description }),
          })),
        })),
        ...nextCursor,
      };
    }),
  );
  server.setRequestHandler('prompts/get', ({ params }) => guarded(() => fillPrompt(offer.prompts, params)));
  return server;
}

const LIST_LIFE = 300_000;

/**
 * A list that signing in, or asking for more scope, would make longer must be asked for again at once: clients keep it
 * for as long as they are told, past the sign-in.
 */
function listHint({ tools, signIn }: Offer, shown: number): { ttlMs: number; cacheScope: 'public' | 'private' } {
  if (signIn === 'on-call') return { ttlMs: LIST_LIFE, cacheScope: 'public' };
  return { ttlMs: shown === tools.length ? LIST_LIFE : 0, cacheScope: 'private' };
}

function described({ name, title, description }: Resource) {
  return { name, title, mimeType: 'application/json', ...(description === undefined ? {} : { description }) };
}

/** A cursor is where the next page begins; it tells nothing, and is nobody's. */
function pageOf<T>(all: readonly T[], cursor: string | undefined) {
  const from = cursor === undefined ? 0 : Number(/^[1-9]\d{0,5}$/.exec(cursor)?.[0] ?? Number.NaN);
  if (!(from < Math.max(1, all.length))) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
  }
  const to = from + PAGE;
  return { page: all.slice(from, to), nextCursor: to < all.length ? { nextCursor: String(to) } : {} };
}

function toolResult(outcome: Outcome): CallToolResult {
  if (outcome.kind === 'failed') return { content: [{ type: 'text', text: outcome.message }], isError: true };
  const { value } = outcome;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    content: [
      { type: 'text', text: JSON.stringify(value) ?? 'null' },
      ...remarks(outcome).map((text) => ({ type: 'text' as const, text })),
    ],
    ...(isObject ? { structuredContent: value as Record<string, unknown> } : {}),
  };
}

/** What is to be said of a result besides the result: what is not in it. */
function remarks({ incomplete = [], rest }: Extract<Outcome, { kind: 'value' }>): readonly string[] {
  return [
    ...(incomplete.length === 0 ? [] : [`Could not be read right now: ${incomplete.join(', ')}.`]),
    ...(rest === undefined ? [] : [rest]),
  ];
}

/** A challenge for clients that look for it in the result, and offer to sign in from there. */
function challengeResult(challenge: Challenge): CallToolResult {
  const text = challenge.status === 401 ? 'Sign in to use this tool.' : 'This needs more access than was granted.';
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'mcp/www_authenticate': [formatChallenge(challenge)] },
  };
}
