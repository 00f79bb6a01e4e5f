import { GatewayError } from '../../errors.ts';
import type { JsonObject } from '../../http/json-object.ts';
import type { FailedOutcome } from '../tool.ts';
import { type Definition, definitionOf } from './definition.ts';
import { EARLIER, exchange, MODERN, type Reply, type ServerCaller, type ServerSession, tell } from './exchange.ts';

/** What an endpoint lists. A name that is listed twice has no definition. */
export type Listed = ReadonlyMap<string, Definition | undefined>;

const MOST_PAGES = 20;
/** Sessions that are begun for one connection, or for one call. */
export const MOST_SESSIONS = 5;
/** The characters that the specification allows, and a length that no server needs. */
const SESSION_ID = /^[\x21-\x7e]{1,256}$/;

/**
 * Reads the list of tools, in a session that exists already, or in the newest revision that the server has. A request of
 * 2026-07-28 needs no session: servers of earlier revisions refuse it, or answer without `resultType`. Rejects with
 * GatewayError.
 */
export async function connect(
  caller: ServerCaller,
  before?: ServerSession,
): Promise<{ readonly session: ServerSession; readonly tools: Listed } | { readonly failed: FailedOutcome }> {
  for (const session of [...(before === undefined ? [] : [before]), { revision: MODERN }]) {
    const tools = await listTools(caller, session);
    if (!('failed' in tools)) return { session, tools };
  }
  const hello = { protocolVersion: EARLIER[0], capabilities: {}, clientInfo: { name: 'coursegate', version: '1' } };
  for (let begun = 1; ; begun += 1) {
    const greeted = await exchange(caller, { revision: undefined }, 'initialize', hello);
    if ('failed' in greeted) return greeted;
    const { sessionId: id, result } = greeted;
    const revision = EARLIER.find((one) => one === result.protocolVersion);
    if (revision === undefined || (id !== undefined && !SESSION_ID.test(id)))
      throw new GatewayError('upstream_invalid', { cause: new Error('The MCP server has no revision in common.') });
    const session = { revision, id };
    await tell(caller, session, { method: 'notifications/initialized' });
    const tools = await listTools(caller, session);
    if (!('failed' in tools)) return { session, tools };
    // WordPress loses a session when another app of the member sends something at the same time.
    if (!tools.notRun || begun === MOST_SESSIONS) return tools;
  }
}

async function listTools(
  caller: ServerCaller,
  session: ServerSession,
): Promise<Listed | Extract<Reply, { failed: FailedOutcome }>> {
  const tools = new Map<string, Definition | undefined>();
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply: Reply = await exchange(caller, session, 'tools/list', cursor === undefined ? {} : { cursor });
    if ('failed' in reply) return reply;
    const { tools: entries, nextCursor, resultType }: JsonObject = reply.result;
    if (session.revision === MODERN && resultType !== 'complete') return { failed: NO_TOOLS, notRun: false };
    for (const definition of [entries].flat().flatMap((entry) => definitionOf(entry) ?? [])) {
      tools.set(definition.name, tools.has(definition.name) ? undefined : definition);
    }
    if (typeof nextCursor !== 'string') break;
    cursor = nextCursor;
  }
  return tools;
}

const NO_TOOLS: FailedOutcome = { kind: 'failed', message: 'The school offers no tools here.', undone: true };
