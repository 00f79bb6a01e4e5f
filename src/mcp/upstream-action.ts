import { GatewayError } from '../errors.ts';
import { mediaType } from '../http/body.ts';
import { ANSWER_BOUNDS, parseBoundedJson } from '../http/bounded-json.ts';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { ANONYMOUS } from '../oauth/principal.ts';
import { LINES, resultLine } from '../upstream/answer-lines.ts';
import type { CallForPrincipal, UpstreamRequest, UpstreamResponse } from '../upstream/request.ts';
import { fillPath, fillQuery, targetOf } from './argument-template.ts';
import { type Action, type CallContext, type FailedOutcome, MUST_SIGN_IN, memberOf, type ToolOutcome } from './tool.ts';

/**
 * Creates an action that sends a GET to an upstream. A public tool calls it anonymously even if a member calls the
 * tool.
 */
export function getAction(
  { upstream, path, query }: { upstream: string; path: string; query: Readonly<Record<string, string>> },
  asMember: boolean,
  call: CallForPrincipal,
): Action {
  return async (input, context) => {
    const { principal } = context;
    const target = targetOf(fillPath(path, input, principal), fillQuery(query, input, principal));
    return readAnswer(await send({ upstream, method: 'GET', path: target }, asMember, context, call));
  };
}

/** Calls an upstream with the gate's assertion of the member's identity, and with nothing that the client sent. */
export function send(
  request: Pick<UpstreamRequest, 'upstream' | 'method' | 'path'> & { readonly body?: string },
  asMember: boolean,
  { principal, signal, onLine }: CallContext,
  call: CallForPrincipal,
): Promise<UpstreamResponse | SessionOver> {
  return call({
    ...request,
    headers: {
      accept: onLine === undefined ? 'application/json' : `${LINES}, application/json`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    principal: asMember ? memberOf(principal) : ANONYMOUS,
    signal,
    onLine,
  });
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The school does not accept these arguments.',
  401: 'The school does not let you do this.',
  403: 'The school does not let you do this.',
  404: 'Nothing was found under that name.',
  409: 'This conflicts with the current state.',
  410: 'This no longer exists.',
  422: 'The school does not accept these arguments.',
  429: 'The school asks you to wait a moment before you try again.',
};

/** The message of ours for a failure status: the upstream's own is not meant for clients. */
export function refusedWith(status: number): FailedOutcome {
  const message = REFUSALS[status];
  if (message !== undefined) return { kind: 'failed', message, undone: true };
  throw new GatewayError('upstream_invalid', { cause: new Error(`The upstream answered ${status}.`) });
}

/** Maps an upstream's answer to an outcome. */
export function readAnswer(answer: UpstreamResponse | SessionOver): ToolOutcome {
  if (answer === SESSION_OVER) return MUST_SIGN_IN;
  const { status, headers, body } = answer;
  if (status === 204) return { kind: 'value', value: {} };
  if (status < 200 || status > 299) return refusedWith(status);
  try {
    const inLines = mediaType(headers['content-type']) === LINES;
    return { kind: 'value', value: parseBoundedJson(inLines ? resultLine(body) : body, ANSWER_BOUNDS) };
  } catch (cause) {
    throw new GatewayError('upstream_invalid', { cause });
  }
}
