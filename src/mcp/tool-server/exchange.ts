import { GatewayError } from '../../errors.ts';
import { mediaType } from '../../http/body.ts';
import { ANSWER_BOUNDS, boundedJson, parseBoundedJson } from '../../http/bounded-json.ts';
import { isObject, type JsonObject } from '../../http/json-object.ts';
import { SESSION_OVER } from '../../oauth/challenge.ts';
import type { Principal } from '../../oauth/principal.ts';
import type { CallForPrincipal, PrincipalRequest, UpstreamResponse } from '../../upstream/request.ts';
import { type CallContext, type FailedOutcome, MUST_SIGN_IN } from '../tool.ts';
import { refusedWith } from '../upstream-action.ts';

/** The revision without sessions, and those that begin with `initialize`: the newest is offered. */
export const MODERN = '2026-07-28';
export const EARLIER = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** How an endpoint is spoken to. */
export interface ServerSession {
  /** Undefined until it is negotiated. */
  readonly revision: string | undefined;
  /** Undefined if the server has given none. */
  readonly id?: string | undefined;
}

/** Who calls which endpoint. */
export interface ServerCaller extends Pick<CallContext, 'signal' | 'onLine'> {
  readonly upstream: string;
  readonly path: string;
  /** Sends requests to the upstream with the identity that it reads. */
  readonly call: CallForPrincipal;
  readonly principal: Principal;
}

/**
 * `failed`: why there is no result, as a tool's outcome. `notRun`: the server has refused the request before it ran it,
 * possibly because it no longer knows the session.
 */
export type Reply =
  | { readonly result: JsonObject; readonly sessionId: string | undefined }
  | { readonly failed: FailedOutcome; readonly notRun: boolean };

const ABOUT = {
  'io.modelcontextprotocol/clientInfo': { name: 'coursegate', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/protocolVersion': MODERN,
};
const METHOD_NOT_FOUND = { code: -32_601, message: 'This client answers no requests.' };
const INVALID_PARAMS = -32_602;
/** Some servers answer an unknown session with these, and not with 404. */
const NOT_RUN = [-32_600, INVALID_PARAMS];
const REFUSED: FailedOutcome = { kind: 'failed', message: 'The school could not do this.' };
/** Requests of a server that are answered during one call. */
const MOST_ANSWERED = 10;
/** Milliseconds for a message that nothing waits for. */
const BRIEFLY = 5000;
let lastId = 0;

/**
 * Sends one request to an MCP endpoint and reads its response (Streamable HTTP, revisions 2025-03-26 to 2026-07-28). A
 * redirect is an invalid response. Rejects with GatewayError.
 */
export async function exchange(
  caller: ServerCaller,
  session: ServerSession,
  method: string,
  params: JsonObject = {},
): Promise<Reply> {
  lastId += 1;
  const id = lastId;
  const { onLine, signal } = caller;
  const isModern = session.revision === MODERN;
  const _meta = { ...(isModern ? ABOUT : {}), ...(onLine === undefined ? {} : { progressToken: id }) };
  const message = { id, method, params: { ...params, ...(Object.keys(_meta).length === 0 ? {} : { _meta }) } };
  const name = isModern && typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  let answered = 0;
  const readLine = (line: string): boolean => {
    const sent = line.startsWith('data:') ? boundedJson(line.slice(5), ANSWER_BOUNDS) : undefined;
    if (!isObject(sent) || typeof sent.method !== 'string') return false;
    if (sent.id !== undefined && answered < MOST_ANSWERED) {
      answered += 1;
      // The gate asks the member nothing for a server, and lends it no model.
      const answer = sent.method === 'ping' ? { result: {} } : { error: METHOD_NOT_FOUND };
      void tell(caller, session, { id: sent.id, ...answer });
    }
    const { progressToken, ...progress } = isObject(sent.params) ? sent.params : {};
    if (sent.method !== 'notifications/progress' || progressToken !== id) return false;
    return onLine?.(JSON.stringify(progress)) ?? false;
  };
  // Since 2026-07-28, closing the request is the cancellation.
  const cancel = () => tell(caller, session, { method: 'notifications/cancelled', params: { requestId: id } });
  if (!isModern) signal.addEventListener('abort', cancel, { once: true });
  const fields = isModern ? { 'mcp-method': method, ...name } : {};
  const answer = await post(caller, session, message, { fields, signal, onLine: readLine }).finally(() =>
    signal.removeEventListener('abort', cancel),
  );
  if (answer === SESSION_OVER) return { failed: MUST_SIGN_IN, notRun: false };
  const { status, headers } = answer;
  if (status < 200 || status > 299) return { failed: refusedWith(status), notRun: status === 404 };
  const response = messagesOf(answer).find((one) => one.id === id && one.method === undefined);
  if (isObject(response?.error)) {
    const code = Number(response.error.code);
    const failed = code === INVALID_PARAMS ? refusedWith(400) : REFUSED;
    return { failed, notRun: NOT_RUN.includes(code) };
  }
  return isObject(response?.result)
    ? { result: response.result, sessionId: headers['mcp-session-id'] }
    : unusable('no response to this request');
}

/** Sends a message that has no response. Resolves when it has arrived or is lost. */
export async function tell(caller: ServerCaller, session: ServerSession, message: JsonObject): Promise<void> {
  await post(caller, session, message, { signal: AbortSignal.timeout(BRIEFLY) }).catch(() => undefined);
}

/** Ends a session. Servers that do not allow it end it by themselves. */
export async function endSession(
  { upstream, path, call, principal }: ServerCaller,
  session: ServerSession,
): Promise<void> {
  if (session.id === undefined) return;
  const headers = fieldsOf(session);
  const signal = AbortSignal.timeout(BRIEFLY);
  await call({ upstream, path, principal, method: 'DELETE', headers, signal }).catch(() => undefined);
}

async function post(
  { upstream, path, call, principal }: ServerCaller,
  session: ServerSession,
  message: JsonObject,
  {
    fields,
    ...control
  }: Pick<PrincipalRequest, 'signal' | 'onLine'> & { readonly fields?: Readonly<Record<string, string>> },
) {
  return call({
    ...{ upstream, path, principal, method: 'POST', ...control },
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...fieldsOf(session),
      ...fields,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

function fieldsOf({ revision, id }: ServerSession): Readonly<Record<string, string>> {
  return {
    ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
  };
}

/** The messages of an answer, in JSON or as events (Server-sent events). Throws GatewayError `upstream_invalid`. */
function messagesOf({ headers, body }: UpstreamResponse): readonly JsonObject[] {
  const type = mediaType(headers['content-type']);
  if (type === 'application/json') return [parsed(body)].filter(isObject);
  if (type !== 'text/event-stream') return unusable('neither JSON nor events');
  const events = body.replaceAll(/\r\n?/g, '\n').split(/\n\n+/);
  const data = events.map((event) => [...event.matchAll(/^data:(.*)$/gm)].map(([, line = '']) => line).join('\n'));
  return data.flatMap((text) => (text.trim() === '' ? [] : [parsed(text)])).filter(isObject);
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, ANSWER_BOUNDS);
  } catch (cause) {
    throw new GatewayError('upstream_invalid', { cause });
  }
}

function unusable(what: string): never {
  throw new GatewayError('upstream_invalid', { cause: new Error(`The MCP server answered with ${what}.`) });
}
