// The commands of the admin listener, by which the backend and the operator look up and change members, apps, grants,
// signing keys and the store: the rows of the table that have a path there.

import { randomUUID } from 'node:crypto';
import { type ErrorRequestHandler, type Request, Router } from 'express';
import type { CommandedBy } from '../authorization-server/administration/account-control.ts';
import type { IdentifyCaller } from '../authorization-server/administration/caller.ts';
import { readQuery } from '../authorization-server/administration/query.ts';
import type { ReceiveWebhook } from '../authorization-server/administration/webhooks.ts';
import { asGatewayError, GatewayError, invalidRequest, renderFailure } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { boundedJson, RECORD_BOUNDS } from '../http/bounded-json.ts';
import { queryOf, readParams } from '../http/fields.ts';
import { isObject } from '../http/json-object.ts';
import { type ActionInput, LONGEST_REASON } from './action.ts';
import type { Controls } from './controls.ts';
import { ACTIONS, LOOKUPS } from './table.ts';

export interface CommandsOptions {
  readonly controls: Controls;
  readonly identify: IdentifyCaller;
  /** Authenticates and performs the webhook of a platform. */
  readonly receive: ReceiveWebhook;
  /** Receives each command, which continues when its caller disconnects. The work does not reject. */
  readonly hold: (work: Promise<void>) => void;
  /** Receives internal errors, which callers do not see. */
  readonly onError: (error: unknown) => void;
}

const BODY_LIMIT = 4096;
const WEBHOOK = '/webhooks/:name';

/** Answers commands and webhooks with JSON or problem JSON (RFC 9457). Other requests are passed on. */
export function commandRouter({ controls, identify, receive, hold, onError }: CommandsOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  // Nothing else is served below the paths of commands. GET /events needs no signature, and is not a command.
  const roots = new Set([...LOOKUPS, ...ACTIONS, { path: WEBHOOK }].map(({ path }) => path && rootOf(path)));
  const isReserved = ({ path }: Request) => roots.has(rootOf(path)) && path !== '/events';
  router.use((request, response, next) => {
    if (isReserved(request)) response.setHeader('x-request-id', randomUUID());
    next();
  });
  const serve = (method: string, path: string, perform: (request: Request, requestId: string) => Promise<object>) =>
    router.all(path, async (request, response) => {
      if (request.method !== method) throw new GatewayError('method_not_allowed', { headers: { allow: method } });
      const work = perform(request, String(response.getHeader('x-request-id')));
      hold(Promise.allSettled([work]).then(() => {}));
      writeAnswer(response, json(200, await work, { 'cache-control': 'no-store' }));
    });
  for (const { path, query, run } of LOOKUPS)
    serve('GET', path, async (request, requestId) => {
      const { id } = await readCommand(request, requestId, identify, []);
      return run(controls, { id, query: readQuery(queryOf(request.url), query) });
    });
  for (const { path, values = [], switches = {}, run } of ACTIONS)
    if (path !== undefined)
      serve('POST', path, async (request, requestId) => {
        const input = await readCommand(request, requestId, identify, [...values, ...Object.keys(switches)]);
        readQuery(queryOf(request.url), []);
        return run(controls, input);
      });
  serve('POST', WEBHOOK, (request, requestId) => receive(String(request.params.name), request, requestId));
  router.use((request, _response, next) => {
    if (isReserved(request)) throw new GatewayError('not_found');
    next();
  });
  router.use(problems(onError));
  return router;
}

function rootOf(path: string): string | undefined {
  return path.split('/')[1];
}

/** Authenticates a command and reads its body. Throws what `identify` throws, and `invalid_request`. */
async function readCommand(
  request: Request,
  requestId: string,
  identify: IdentifyCaller,
  allowed: readonly string[],
): Promise<ActionInput> {
  // Not express.raw(), which answers a body that is too large only after it has received all of it.
  const bytes = await readBody(request, BODY_LIMIT);
  const caller = await identify(request, bytes);
  const { by, reason, rest: body } = parseDecision(bytes, allowed);
  const { id = '' } = readParams(request.params);
  const decision = { by, reason, ...caller, address: request.socket.remoteAddress, requestId };
  return { id, client: undefined, body, decision };
}

function problems(onError: CommandsOptions['onError']): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const failure =
      thrown instanceof URIError ? invalidRequest('The id in the path is not percent-encoded UTF-8.') : thrown;
    const known = asGatewayError(failure);
    if (known.status >= 500) onError(thrown);
    writeAnswer(response, renderFailure(known, 'problem', String(response.getHeader('x-request-id'))));
  };
}

/** Parses the optional body, such as `{"by":"operator","reason":"refund"}`. Throws `invalid_request`. */
function parseDecision(
  body: Buffer,
  more: readonly string[],
): Pick<CommandedBy, 'by' | 'reason'> & { readonly rest: Readonly<Record<string, unknown>> } {
  if (body.length === 0) return { by: 'backend', reason: undefined, rest: {} };
  const besides = more.length === 0 ? '' : `, and ${more.map((name) => `"${name}"`).join(', ')}`;
  const wrong = invalidRequest(
    `The body must be empty or a JSON object with the optional members "by" ("backend" or "operator") and "reason" (text of at most ${LONGEST_REASON} characters)${besides}.`,
  );
  const given = boundedJson(body.toString('utf8'), RECORD_BOUNDS);
  if (!isObject(given)) throw wrong;
  const { by = 'backend', reason, ...rest } = given;
  if (by !== 'backend' && by !== 'operator') throw wrong;
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > LONGEST_REASON)) throw wrong;
  if (Object.keys(rest).some((name) => !more.includes(name))) throw wrong;
  return { by, reason, rest };
}
