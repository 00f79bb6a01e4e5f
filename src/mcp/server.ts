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

/** Everything that the server offers. */
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
  /** The challenge for a caller that may not use something with these scopes; undefined if there is none. */
  readonly challenge: (needed: Scope) => Challenge | undefined;
  /** Runs a tool within its deadline and audits the call. */
  readonly run: (tool: Tool, input: Readonly<Record<string, unknown>>) => Promise<Outcome>;
  readonly onError: (error: unknown) => void;
}

/** Creates the server for one request, from the caller and the protocol era that it uses. */
export type ServerFactory = (served: Served, era: McpRequestContext['era']) => Server | McpServer;

const PAGE = 100;

/**
 * Creates the server for one request, which shows only what this principal may see. Uses the SDK's low-level class,
 * because our tools are data that was checked at startup and is only filtered here.
 */
export function createServer(offer: Offer, served: Served): Server {
  const { signIn } = offer;
  const { principal } = served;
  const shown = (scopes: Scope) => isShown(principal, scopes, signIn);
  const tools = offer.tools.filter(({ scopes }) => shown(scopes));
  const resources = offer.resources.filter(({ tool }) => shown(tool.scopes));
  const lists = listHint(offer, tools.length);
  const server = new Server(offer.server, {
    // Nothing changes while the process runs, and there is no stream for notifications.
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

  /** The SDK sends the message of a thrown error to the client, so only errors with our own words may get there. */
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
      // A hidden tool is reported as missing.
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
 * A list that grows when the member signs in or grants more scopes must not be cached, because clients keep it for as
 * long as they are allowed to, even past the sign-in.
 */
function listHint({ tools, signIn }: Offer, shown: number): { ttlMs: number; cacheScope: 'public' | 'private' } {
  if (signIn === 'on-call') return { ttlMs: LIST_LIFE, cacheScope: 'public' };
  return { ttlMs: shown === tools.length ? LIST_LIFE : 0, cacheScope: 'private' };
}

function described({ name, title, description }: Resource) {
  return { name, title, mimeType: 'application/json', ...(description === undefined ? {} : { description }) };
}

/** A cursor is the position of the next page. It contains nothing secret and is not bound to a caller. */
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

/** Notes on what is missing from a result. */
function remarks({ incomplete = [], rest }: Extract<Outcome, { kind: 'value' }>): readonly string[] {
  return [
    ...(incomplete.length === 0 ? [] : [`Could not be read right now: ${incomplete.join(', ')}.`]),
    ...(rest === undefined ? [] : [rest]),
  ];
}

/** A challenge in the result, for clients that look for it there and offer to sign in. */
function challengeResult(challenge: Challenge): CallToolResult {
  const text = challenge.status === 401 ? 'Sign in to use this tool.' : 'This needs more access than was granted.';
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'mcp/www_authenticate': [formatChallenge(challenge)] },
  };
}
