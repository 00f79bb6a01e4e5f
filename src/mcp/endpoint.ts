import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import type { McpConfig } from '../config/schema.ts';
import { valueAt } from '../config/tree.ts';
import { challengeAnswer, json, type WrittenAnswer, writeAnswer } from '../http/answer.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { areaOf } from '../http/request-record.ts';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { schemeOf } from '../oauth/credentials.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import { formatScope } from '../oauth/scope.ts';
import { type Audit, usageAudit } from '../operations/audit.ts';
import { type CallParts, callTool } from './call-tool.ts';
import { type Cancellable, isShort, SESSION_FIELD } from './cancellation.ts';
import { edgeCheck } from './edge.ts';
import { type Message, readMessage } from './message.ts';
import type { Once } from './once.ts';
import { type ProgressRelay, relayProgress } from './progress.ts';
import { findResource } from './resources.ts';
import type { Notify, ServedRequest, ServerFactory, ServerOffer, Used } from './server.ts';
import { challengeFor, type McpEndpoint } from './sign-in.ts';
import { toolsWithoutRole } from './tool-role.ts';
import { answerOf, takesEvents, webRequest } from './web.ts';

export interface McpOptions {
  readonly origin: string;
  readonly config: McpConfig;
  readonly offer: ServerOffer;
  readonly serverOf: ServerFactory;
  readonly once: Once;
  readonly cancellable: Cancellable;
  readonly audit: Audit;
  readonly rolesOf: RolesOf;
  /** Called with errors that are not shown to clients. */
  readonly onError: (error: unknown) => void;
}

/** What is answered with tools, or with resources that are read with one. */
const LISTS = new Set(['tools/list', 'resources/list', 'resources/templates/list']);
const NOTHING_HIDDEN: ServedRequest['hidden'] = new Set();

const NO_STORE = { 'cache-control': 'no-store' };

/** JSON-RPC 2.0 section 5.1, method not found; protocol revision 2026-07-28 also gives it an HTTP status. */
const NOTHING_TO_LISTEN_TO = {
  code: -32_601,
  message: 'There is nothing to subscribe to: the lists do not change.',
};

/**
 * Serves MCP over HTTP: revision 2026-07-28 and earlier ones at one URL, without session state. The gate has already
 * checked the token and its audience. The scopes of a tool are checked here, once, and the SDK is given the tool that
 * they were checked for.
 * @returns creates the handler of an endpoint
 */
export function createMcpEndpoint(options: McpOptions): (endpoint: McpEndpoint) => Handler {
  const { origin, config, offer, audit, rolesOf, onError, cancellable } = options;
  const { signIn } = offer;
  const checkEdge = edgeCheck(origin, config.origins);
  const { fetch: serve } = createMcpHandler(serverFactory(options), { legacy: 'stateless', keepAliveMs: 0 });
  const calls: CallParts = { ...options, deadline: config.deadline, longestCall: config.longestCall };

  return (endpoint) => async (exchange) => {
    const answer = await answerTo(exchange, endpoint);
    if (answer === SESSION_OVER) return answer;
    if (answer !== undefined) writeAnswer(exchange.response, answer);
    return undefined;
  };

  /** Undefined if the client has left. */
  async function answerTo(exchange: Exchange, endpoint: McpEndpoint): Promise<WrittenAnswer | SessionOver | undefined> {
    const { request, response, principal, record } = exchange;
    checkEdge(request);
    const read = await readMessage(request, config.bodyLimit);
    if ('flaw' in read) return errorAnswer(400, null, read.flaw);
    const { message } = read;
    if (message.method === 'notifications/cancelled') await cancellable.cancel(request, message, principal);
    if (message.method === 'subscriptions/listen') return errorAnswer(404, message.id, NOTHING_TO_LISTEN_TO);

    const report = usageAudit(audit, exchange, 'tool');
    const used = usedBy(message, offer);
    const scheme = schemeOf(fieldValues(request.rawHeaders, 'authorization'));
    const version = request.headers['mcp-protocol-version'];
    const refusal = used && challengeFor(used.tool.scopes, { principal, scheme, endpoint, signIn, version });
    if (used !== undefined && refusal !== undefined) {
      record.outcome = 'refused';
      record.reason = refusal.error;
      const { error, description, scope } = refusal;
      const who = principal.kind === 'member' ? { clientId: principal.clientId, grantId: principal.grantId } : {};
      record.noteStep(principal.kind === 'member' ? 'use' : 'challenge', {
        ...{ error, description, ...who, parameters: { scope: formatScope(scope) } },
      });
      report(used.tool.name, 'refused');
      if (!readsInResult(request, message)) return challengeAnswer(refusal);
    }

    const left = new AbortController();
    const gone = new AbortController();
    response.once('close', () => {
      // The response closes after every answer too. Aborting then has no use and costs as much as a small call.
      if (response.writableFinished) return;
      left.abort();
      gone.abort();
    });
    let sessionOver = false;
    const run: ServedRequest['run'] = async ({ tool }, input, notify) => {
      const { requestId } = exchange.provenance;
      const meta = valueAt(message.params, ['_meta']);
      const progress = takesEvents(request) ? progressFor(valueAt(meta, ['progressToken']), notify) : undefined;
      const over = cancellable.begin(request, message, principal, gone);
      const caller = { principal, requestId, gone, onLine: progress?.onLine };
      const outcome = await callTool(calls, tool, input, meta, caller).finally(over);
      await progress?.sent();
      const isRefused = outcome.kind === 'failed' && outcome.refused === true;
      const how = outcome.kind === 'value' ? 'success' : isRefused ? 'refused' : 'failure';
      const isHeld = outcome.kind === 'failed' && outcome.approval !== undefined;
      report(tool.name, how, isRefused ? 'role' : isHeld ? 'approval' : outcome.repeated && 'repeated');
      if (outcome.kind === 'value') record.areas = [areaOf.tool(tool.name)];
      else sessionOver = outcome.sessionOver === true;
      if (isRefused) {
        record.outcome = 'refused';
        record.reason = 'role';
      }
      return outcome;
    };
    const hidden = LISTS.has(String(message.method))
      ? await toolsWithoutRole(offer.tools, principal, rolesOf)
      : NOTHING_HIDDEN;
    const served: ServedRequest = { principal, used, hidden, refusal, run, onError };
    const authInfo = { token: '', clientId: '', scopes: [], extra: { served } };
    const answer = await serve(webRequest(request, origin, left.signal), { parsedBody: message, authInfo })
      .then((answered) => answerOf(answered, takesEvents(request), response))
      .catch((thrown: unknown) => {
        // The SDK gives no answer to a client that has left.
        if (!left.signal.aborted) throw thrown;
      });
    // Answered with a challenge, which apps follow, instead of a result.
    if (sessionOver && !response.headersSent) return SESSION_OVER;
    if (answer === undefined || left.signal.aborted) return undefined;
    const session = message.method === 'initialize' && answer.status === 200 ? { [SESSION_FIELD]: randomUUID() } : {};
    return { ...answer, headers: { ...answer.headers, ...session, ...NO_STORE } };
  }

  /** Whether this client looks for the challenge of a tool call only in the call's result. */
  function readsInResult({ headers }: IncomingMessage, { method, params }: Message): boolean {
    if (method !== 'tools/call' || signIn !== 'on-call') return false;
    const name = valueAt(params, ['_meta', 'io.modelcontextprotocol/clientInfo', 'name']);
    const shown = `${headers['user-agent'] ?? ''} ${typeof name === 'string' ? name : ''}`.toLowerCase();
    return config.challengeInResult.some((part) => shown.includes(part.toLowerCase()));
  }
}

/** The tool that a message calls or reads a resource with; undefined if it uses none. */
function usedBy({ method, params }: Message, { tools, resources }: ServerOffer): Used | undefined {
  const { name, uri } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (method === 'tools/call') {
    const tool = tools.find((one) => one.name === name);
    return tool && { tool, input: {} };
  }
  return method === 'resources/read' && typeof uri === 'string' ? findResource(resources, uri) : undefined;
}

function serverFactory({ serverOf, onError }: McpOptions): McpServerFactory {
  return ({ authInfo, era }) => {
    try {
      return serverOf(authInfo?.extra?.served as ServedRequest, era);
    } catch (thrown) {
      // The SDK answers 500 and does not report the reason.
      onError(thrown);
      throw thrown;
    }
  };
}

/** Undefined if the client wants to hear of no progress. */
function progressFor(progressToken: unknown, notify: Notify | undefined): ProgressRelay | undefined {
  if (notify === undefined || !isShort(progressToken)) return undefined;
  const method = 'notifications/progress';
  return relayProgress(
    (progress) => notify({ method, params: { progressToken, ...progress } }),
    () => performance.now(),
  );
}

/** The answer to a message that is not run. */
function errorAnswer(status: number, id: unknown, error: { code: number; message: string }): WrittenAnswer {
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return json(status, { jsonrpc: '2.0', id: known, error }, NO_STORE);
}
