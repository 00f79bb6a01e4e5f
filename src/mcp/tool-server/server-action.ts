import type { ToolConfig } from '../../config/schema.ts';
import { isObject, type JsonObject } from '../../http/json-object.ts';
import { ANONYMOUS, type Principal } from '../../oauth/principal.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Clock } from '../../storage/store.ts';
import { parameterNames } from '../../upstream/parameter-name.ts';
import type { CallForPrincipal } from '../../upstream/request.ts';
import { fillPlaceholders, type ToolInput } from '../argument-template.ts';
import { cleanValue } from '../cleaning.ts';
import { type BuiltAction, type CallContext, type FailedOutcome, memberOf, type ToolOutcome } from '../tool.ts';
import { MOST_SESSIONS } from './connect.ts';
import { ToolServerConnections } from './connections.ts';
import { exchange, type Reply, type ServerCaller } from './exchange.ts';

/** What creates the action of a tool that an upstream's own MCP server has. */
export type ServerActionOf = (tool: ToolConfig, server: ServerTool) => Pick<BuiltAction, 'act' | 'refusal'>;
export type ServerTool = NonNullable<ToolConfig['server']>;

/**
 * Calls tools of upstreams' MCP servers with the identity of the member, and only while the server defines a tool as the
 * operator has approved it: its hash is that of the configuration. Otherwise this is audited, once for each definition.
 */
export function serverActions(
  tools: readonly ToolConfig[],
  { call, audit, clock }: { readonly call: CallForPrincipal; readonly audit: Audit; readonly clock: Clock },
): ServerActionOf {
  const connections = new ToolServerConnections(
    tools.flatMap(({ server }) => server?.tool ?? []),
    clock,
  );
  return ({ name, scopes, output, result }, server) => {
    const isObjectOnly = output !== undefined && result === undefined;
    const { upstream, path, tool, hash } = server;
    const set = Object.keys(server.arguments);
    const own = parameterNames(set);
    let reported: string | undefined = hash;
    const argumentsOf = (input: ToolInput, principal: Principal) => ({
      ...Object.fromEntries(Object.entries(input).filter(([key]) => set.length === 0 || !own.inJson(key))),
      ...Object.fromEntries(Object.entries(server.arguments).map(([key, text]) => [key, filled(text, principal)])),
    });
    const callerOf = ({ principal, signal, onLine }: CallContext): ServerCaller => ({
      ...{ upstream, path, call, signal, onLine },
      principal: scopes.length > 0 ? memberOf(principal) : ANONYMOUS,
    });
    /** Undefined if it is defined as approved. */
    const changed = (defined: string | undefined): FailedOutcome | undefined => {
      const before = reported;
      reported = defined;
      if (defined === hash) return undefined;
      const reason = defined === undefined ? 'not_offered' : 'definition_changed';
      if (defined !== before) audit({ action: 'tool_changed', used: { kind: 'tool', name }, reason });
      return CHANGED;
    };
    return {
      async refusal(context) {
        const connection = await connections.get(callerOf(context));
        return 'failed' in connection ? connection.failed : changed(connection.hashes.get(tool));
      },
      async act(input, context) {
        const caller = callerOf(context);
        const params = { name: tool, arguments: argumentsOf(input, context.principal) };
        let connection = await connections.get(caller);
        for (let made = 1; ; made += 1) {
          if ('failed' in connection) return connection.failed;
          const refused = changed(connection.hashes.get(tool));
          if (refused !== undefined) return refused;
          const { session } = connection;
          const reply = await exchange(caller, session, 'tools/call', params);
          if (session.id === undefined || !('failed' in reply) || !reply.notRun || made === MOST_SESSIONS)
            return outcomeOf(reply, isObjectOnly);
          // The server may have forgotten the session.
          connection = await connections.renew(caller, connection);
          if ('session' in connection && connection.session.id === session.id) return reply.failed;
        }
      },
    };
  };
}

const CHANGED: FailedOutcome = {
  kind: 'failed',
  message:
    'This tool is withdrawn: the school has changed it, and its operator has not approved the change yet. Do not look for another way to do the same.',
  undone: true,
};
const ASKS: ToolOutcome = {
  kind: 'failed',
  message: 'The school’s tool asks for something during the call, which is not possible here.',
};
const FAILED = 'The school’s tool reports an error';
const LONGEST_ERROR = 1000;

function filled(text: string, principal: Principal): string {
  return fillPlaceholders(text, (name) => (name === 'member.id' ? memberOf(principal).sub : `{${name}}`));
}

/**
 * The outcome of a call: its structured content, or its texts and links. Images, sounds and files are left out.
 * @param isObjectOnly whether the tool returns nothing but an object
 */
async function outcomeOf(reply: Reply, isObjectOnly: boolean): Promise<ToolOutcome> {
  if ('failed' in reply) return reply.failed;
  const { structuredContent, content, isError, resultType = 'complete' } = reply.result;
  if (resultType !== 'complete') return ASKS;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const text = blocks.flatMap((block) => textOf(block) ?? []).join('\n\n');
  if (isError === true) {
    const reported = await cleanValue(text, LONGEST_ERROR);
    return { kind: 'failed', message: `${FAILED}: ${String(reported)}` };
  }
  // PHP writes an object without members as [].
  if (isObjectOnly && Array.isArray(structuredContent) && structuredContent.length === 0)
    return { kind: 'value', value: {} };
  if (typeof structuredContent === 'object' && structuredContent !== null)
    return { kind: 'value', value: structuredContent };
  const links = blocks.flatMap((block) => linkOf(block) ?? []);
  const left = new Set(blocks.filter((block) => textOf(block) === undefined && linkOf(block) === undefined));
  const rest = left.size === 0 ? {} : { rest: `Left out: ${left.size} that are neither text nor links.` };
  return { kind: 'value', value: { text, ...(links.length === 0 ? {} : { links }) }, ...rest };
}

function textOf({ type, text, resource }: JsonObject): string | undefined {
  const found = type === 'text' ? text : type === 'resource' && isObject(resource) ? resource.text : undefined;
  return typeof found === 'string' ? found : undefined;
}

function linkOf({ type, uri, name, title, description }: JsonObject): object | undefined {
  if (type !== 'resource_link' || typeof uri !== 'string' || !/^https?:\/\//i.test(uri)) return undefined;
  return { uri, name, title, description };
}
