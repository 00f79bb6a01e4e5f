import {
  type CallToolResult,
  type Implementation,
  type InputRequiredResult,
  type McpRequestContext,
  type McpServer,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { McpConfig } from '../config/schema.ts';
import type { Challenge } from '../oauth/challenge.ts';
import type { Principal } from '../oauth/principal.ts';
import { approvalRequest } from './approval-request.ts';
import type { ToolInput } from './argument-template.ts';
import { type Cards, cardResource, readCard, UI_EXTENSION } from './cards/cards.ts';
import { fillPrompt } from './prompts.ts';
import type { Resource } from './resources.ts';
import type { Skill } from './settings-skills.ts';
import { isShown, type SignInPolicy } from './sign-in.ts';
import { answerSkills, readSkillFile, SKILLS_EXTENSION, skillEntry, skillResource } from './skills.ts';
import type { Tool, ToolOutcome } from './tool.ts';
import { challengeResult, remarks, toolResult } from './tool-result.ts';

/** Everything that the server offers. */
export interface ServerOffer {
  readonly server: Implementation;
  readonly instructions: string;
  readonly signIn: SignInPolicy;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly prompts: McpConfig['prompts'];
  readonly skills: readonly Skill[];
  readonly cards: Cards;
}

/** The tool that a message uses, and the arguments in the URI of a resource. */
export interface Used {
  readonly tool: Tool;
  readonly input: ToolInput;
}

/** Sends a notification about the request. */
export type Notify = (notification: Notification) => Promise<void>;

/** One request that is being served. */
export interface ServedRequest {
  readonly principal: Principal;
  /** Undefined if the message uses no tool. */
  readonly used: Used | undefined;
  /** What the caller could use for no course, and is not listed. */
  readonly hidden: ReadonlySet<Tool>;
  /** The challenge for a caller that may not use it. */
  readonly refusal: Challenge | undefined;
  /** Runs a tool within its deadline and audits the call. `notify` sends what the client is told meanwhile. */
  readonly run: (used: Used, input: ToolInput, notify?: Notify) => Promise<ToolOutcome>;
  readonly onError: (error: unknown) => void;
}

/** Creates the server for one request, from the caller and the protocol era that it uses. */
export type ServerFactory = (served: ServedRequest, era: McpRequestContext['era']) => Server | McpServer;

const PAGE = 100;

/**
 * Creates the server for one request, which shows only what this principal may see. Uses the SDK's low-level class,
 * because our tools are data that was checked at startup and is only filtered here.
 */
export function createServer(offer: ServerOffer, served: ServedRequest): Server {
  const { skills, cards } = offer;
  const shown = ({ scopes }: Tool) => isShown(served.principal, scopes, offer.signIn);
  const listable = (tool: Tool) => shown(tool) && !served.hidden.has(tool);
  const tools = offer.tools.filter(listable);
  const resources = offer.resources.filter(({ tool }) => listable(tool));
  const fixed = resources.filter(({ isTemplate }) => !isTemplate);
  const listed = [
    ...fixed.map((one) => ({ uri: one.uri, ...described(one) })),
    ...skills.map(skillResource),
    ...[...cards.values()].map(cardResource),
  ];
  const templates = resources.filter(({ isTemplate }) => isTemplate);
  const lists = listHint(offer, tools.length);
  const server = new Server(offer.server, {
    // Nothing changes while the process runs, and there is no stream for notifications beside a call.
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false, subscribe: false },
      prompts: { listChanged: false },
      extensions: {
        ...(skills.length > 0 ? { [SKILLS_EXTENSION]: {} } : {}),
        ...(cards.size > 0 ? { [UI_EXTENSION]: {} } : {}),
      },
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
  const guarded = <T>(work: () => Promise<T> | T) => inOurWords(work, served.onError);

  server.setRequestHandler('tools/list', ({ params }) =>
    guarded(() => page('tools', tools, params?.cursor, ({ descriptor }) => descriptor)),
  );
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    guarded(() => callResult(served, shown, params.arguments ?? {}, mcpReq)),
  );
  server.setRequestHandler('resources/list', ({ params }) =>
    guarded(() => page('resources', listed, params?.cursor, (one) => one)),
  );
  server.setRequestHandler('resources/templates/list', ({ params }) =>
    guarded(() =>
      page('resourceTemplates', templates, params?.cursor, (one) => ({ uriTemplate: one.uri, ...described(one) })),
    ),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq }) =>
    guarded<ReadResourceResult>(
      () => readCard(cards, uri) ?? readSkillFile(skills, uri) ?? readResult(served, shown, uri, mcpReq),
    ),
  );
  server.setRequestHandler('prompts/list', ({ params }) =>
    guarded(() => page('prompts', offer.prompts, params?.cursor, promptEntry)),
  );
  server.setRequestHandler('prompts/get', ({ params }) => guarded(() => fillPrompt(offer.prompts, params)));
  if (skills.length > 0) answerSkills(server, skills, (cursor) => page('skills', skills, cursor, skillEntry));
  return server;
}

/** The SDK sends the message of a thrown error to the client, so only errors with our own words may get there. */
async function inOurWords<T>(work: () => Promise<T> | T, onError: ServedRequest['onError']): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    onError(thrown);
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side.');
  }
}

type IsShown = (tool: Tool) => boolean;

/** A hidden tool is reported as missing. */
async function callResult(
  { used, refusal, run }: ServedRequest,
  shown: IsShown,
  input: ToolInput,
  asked: ServerContext['mcpReq'],
): Promise<CallToolResult | InputRequiredResult> {
  if (refusal !== undefined) return challengeResult(refusal);
  if (used === undefined || !shown(used.tool)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No tool has this name.');
  }
  const outcome = await run(used, input, notifier(asked));
  return approvalRequest(outcome, used.tool, asked) ?? toolResult(outcome);
}

function notifier(asked: ServerContext['mcpReq']): Notify {
  return (notification) => asked.notify(notification);
}

async function readResult(
  { used, refusal, run }: ServedRequest,
  shown: IsShown,
  uri: string,
  asked: ServerContext['mcpReq'],
) {
  const missing = (message: string) => new ResourceNotFoundError(uri.slice(0, 200), message);
  if (used === undefined || refusal !== undefined || !shown(used.tool)) {
    throw missing('No resource has this URI.');
  }
  const outcome = await run(used, used.input, notifier(asked));
  if (outcome.kind === 'failed') throw missing(outcome.message);
  const notes = remarks(outcome).map((text) => ({ uri, mimeType: 'text/plain', text }));
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(outcome.value) }, ...notes] };
}

const LIST_LIFE = 300_000;

/**
 * A list that grows when the member signs in must not be cached, because clients keep it for as long as they are
 * allowed to, even past the sign-in. Neither must one that depends on the member's roles.
 */
function listHint({ tools, signIn }: ServerOffer, shown: number): { ttlMs: number; cacheScope: 'public' | 'private' } {
  if (tools.some(({ roles }) => roles.length > 0)) return { ttlMs: 0, cacheScope: 'private' };
  if (signIn === 'on-call') return { ttlMs: LIST_LIFE, cacheScope: 'public' };
  return { ttlMs: shown === tools.length ? LIST_LIFE : 0, cacheScope: 'private' };
}

function described({ name, title, description }: Resource) {
  return { name, title, mimeType: 'application/json', description };
}

function promptEntry({ name, title, description, arguments: given }: McpConfig['prompts'][number]) {
  return { name, title, description, arguments: given };
}

/**
 * One page of a list. A cursor is the position of the next page: it contains nothing secret and is not bound to a
 * caller.
 */
function page<Name extends string, T, Entry>(
  name: Name,
  all: readonly T[],
  cursor: string | undefined,
  entryOf: (one: T) => Entry,
): Record<Name, Entry[]> & { nextCursor?: string } {
  const from = cursor === undefined ? 0 : Number(/^[1-9]\d{0,5}$/.exec(cursor)?.[0] ?? Number.NaN);
  if (!(from < Math.max(1, all.length))) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor does not belong to this list.');
  }
  const to = from + PAGE;
  const entries = { [name]: all.slice(from, to).map(entryOf) } as Record<Name, Entry[]>;
  return to < all.length ? { ...entries, nextCursor: String(to) } : entries;
}
