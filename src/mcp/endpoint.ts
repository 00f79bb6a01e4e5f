import type { IncomingMessage } from 'node:http';
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import type { McpConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { areaOf } from '../http/request-record.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';
import { parseAuthorization } from '../oauth/credentials.ts';
import type { Scope } from '../oauth/scope.ts';
import type { Audit } from '../operations/audit.ts';
import type { Input } from './argument-template.ts';
import { edgeCheck } from './edge.ts';
import { KEY_ARGUMENT, takeKey } from './idempotency-key.ts';
import { type Message, readMessage } from './message.ts';
import type { Once } from './once.ts';
import { findResource } from './resources.ts';
import { failure, unfit } from './run-tool.ts';
import type { Offer, Served, ServerFactory } from './server.ts';
import { challengeFor, type McpEndpoint } from './sign-in.ts';
import type { CallContext, Outcome, Tool } from './tool.ts';
import { answerOf, takesEvents, webRequest } from './web.ts';

export interface McpOptions {
  readonly origin: string;
  readonly config: McpConfig;
  readonly offer: Offer;
  readonly serverOf: ServerFactory;
  readonly once: Once;
  readonly audit: Audit;
  /** Called with errors that are not shown to clients. */
  readonly onError: (error: unknown) => void;
}

const NO_STORE = { 'cache-control': 'no-store' };

/** JSON-RPC 2.0 section 5.1, method not found; protocol revision 2026-07-28 also gives it an HTTP status. */
const METHOD_NOT_FOUND = -32_601;

/**
 * Serves MCP over HTTP: revision 2026-07-28 and earlier ones at one URL, without sessions. The gate has already
 * checked the token and its audience. The scopes of tools are checked here, against the very message that is run.
 * @returns creates the handler of an endpoint
 */
export function createMcpEndpoint({
  origin,
  config,
  offer,
  serverOf,
  once,
  audit,
  onError,
}: McpOptions): (endpoint: McpEndpoint) => Handler {
  const { signIn } = offer;
  const checkEdge = edgeCheck({ origin, origins: config.origins });
  const inResult = config.challengeInResult.map((name) => name.toLowerCase());
  const make: McpServerFactory = ({ authInfo, era }) => {
    try {
      return serverOf(authInfo?.extra?.served as Served, era);
    } catch (thrown) {
      // The SDK answers 500 and does not report the reason.
      onError(thrown);
      throw thrown;
    }
  };
  const { fetch: serve } = createMcpHandler(make, { legacy: 'stateless', keepAliveMs: 0 });

  /** The scopes needed by what a message uses; undefined if it uses no tool. */
  const neededBy = ({ method, params }: Message): { readonly scopes: Scope; readonly tool: string } | undefined => {
    const { name, uri } = (params ?? {}) as Readonly<Record<string, unknown>>;
    const tool =
      method === 'tools/call'
        ? offer.tools.find((one) => one.name === name)
        : method === 'resources/read' && typeof uri === 'string'
          ? findResource(offer.resources, uri)?.resource.tool
          : undefined;
    return tool === undefined ? undefined : { scopes: tool.scopes, tool: tool.name };
  };

  return (endpoint) => async (exchange) => {
    const { request, response, principal, record, provenance } = exchange;
    checkEdge(request);
    const read = await readMessage(request, config.bodyLimit);
    if ('flaw' in read) return refuse(exchange, 400, null, read.flaw);
    const { message } = read;
    if (message.method === 'subscriptions/listen') {
      const error = {
        code: METHOD_NOT_FOUND,
        message: 'There is nothing to listen to: what is offered does not change.',
      };
      return refuse(exchange, 404, message.id, error);
    }

    const began = performance.now();
    const told = (tool: string, outcome: 'success' | 'failure' | 'refused', reason?: 'repeated') =>
      audit({
        action: 'tool_called',
        used: { kind: 'tool', name: tool },
        outcome,
        reason,
        milliseconds: performance.now() - began,
        clientId: principal.kind === 'member' ? principal.clientId : undefined,
        grantId: principal.kind === 'member' ? principal.grantId : undefined,
        member: principal.kind === 'member' ? principal.sub : undefined,
        address: provenance.clientAddress,
        requestId: provenance.requestId,
      });

    const shown = parseAuthorization(fieldValues(request, 'authorization'));
    const scheme = shown.kind === 'none' ? 'Bearer' : shown.scheme;
    const challenge = (needed: Scope) => challengeFor(needed, { principal, scheme, endpoint, signIn });
    const needed = neededBy(message);
    const refusal = needed === undefined ? undefined : challenge(needed.scopes);
    if (needed !== undefined && refusal !== undefined) {
      record.outcome = 'refused';
      record.reason = refusal.error;
      told(needed.tool, 'refused');
      const wantsResult = message.method === 'tools/call' && signIn === 'on-call' && readsResults(request, message);
      if (!wantsResult) return writeChallenge(exchange, refusal);
    }

    const left = new AbortController();
    const ended = new AbortController();
    response.once('close', () => {
      // The response closes after every answer too. Aborting then has no use and costs as much as a small call.
      if (response.writableFinished) return;
      left.abort();
      ended.abort();
    });
    let over: unknown;
    const run = async (tool: Tool, given: Input): Promise<Outcome> => {
      const { requestId } = provenance;
      const asked = tool.takesKey ? takeKey(given, (message.params as Message | undefined)?._meta) : { input: given };
      // A client that sends a key will repeat the call if the connection is lost, so the call continues without it.
      const keyed = 'key' in asked && asked.key !== undefined;
      const calling = keyed ? new AbortController() : ended;
      const timer = setTimeout(() => calling.abort(), Math.ceil(config.deadline * 1000));
      const outcome = await callOf(tool, asked, { principal, requestId, signal: calling.signal })
        .catch((thrown: unknown): Outcome => {
          over = thrown;
          return { kind: 'failed', message: 'The member must sign in again.' };
        })
        .finally(() => clearTimeout(timer));
      told(tool.name, outcome.kind === 'value' ? 'success' : 'failure', 'repeated' in outcome ? 'repeated' : undefined);
      if (outcome.kind === 'value') record.areas = [areaOf.tool(tool.name)];
      return outcome;
    };
    const served: Served = { principal, challenge, run, onError };
    const authInfo = { token: '', clientId: '', scopes: [], extra: { served } };
    const answered = await serve(webRequest(request, origin, left.signal), { parsedBody: message, authInfo });
    const answer = await answerOf(answered, takesEvents(request));
    // Answer with a challenge, which apps follow, instead of a result.
    if (over !== undefined) throw over;
    if (!left.signal.aborted) writeAnswer(response, { ...answer, headers: { ...answer.headers, ...NO_STORE } });
  };

  async function callOf(tool: Tool, asked: ReturnType<typeof takeKey> | { input: Input }, context: CallContext) {
    if ('flaw' in asked) return unfit(asked.flaw);
    const { input } = asked;
    const { principal, signal } = context;
    const key = 'key' in asked ? asked.key : undefined;
    if (key === undefined) return tool.call(input, context);
    if (principal.kind !== 'member') return unfit(`${KEY_ARGUMENT} is for members`);
    const { sub: member, clientId } = principal;
    const call = { member, clientId, tool: tool.name, key, input, signal };
    return once(call, () => tool.call(input, context)).catch((thrown: unknown) => {
      if (thrown instanceof GatewayError && thrown.code === 'session_over') throw thrown;
      return failure(thrown, context, onError);
    });
  }

  /** Whether this client looks for challenges only in the result of a call. */
  function readsResults({ headers }: IncomingMessage, { params }: Message): boolean {
    const meta = ((params ?? {}) as Readonly<Record<string, unknown>>)._meta;
    const info = ((meta ?? {}) as Readonly<Record<string, unknown>>)['io.modelcontextprotocol/clientInfo'];
    const name = ((info ?? {}) as Readonly<Record<string, unknown>>).name;
    const shown = `${headers['user-agent'] ?? ''} ${typeof name === 'string' ? name : ''}`.toLowerCase();
    return inResult.some((part) => shown.includes(part));
  }
}

function refuse({ response }: Exchange, status: number, id: unknown, error: { code: number; message: string }): void {
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  writeAnswer(response, json(status, { jsonrpc: '2.0', id: known, error }, NO_STORE));
}

function writeChallenge({ response }: Exchange, challenge: Challenge): void {
  const body = { error: challenge.error, error_description: challenge.description };
  writeAnswer(response, json(challenge.status, body, { ...NO_STORE, 'www-authenticate': formatChallenge(challenge) }));
}
