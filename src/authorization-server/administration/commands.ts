// The commands of the admin listener, by which the backend and the operator manage members, apps, grants, signing keys
// and the store.

import { randomUUID } from 'node:crypto';
import { type ErrorRequestHandler, type Request, Router } from 'express';
import { asGatewayError, GatewayError, renderFailure } from '../../errors.ts';
import { json, writeAnswer } from '../../http/answer.ts';
import { readBody } from '../../http/body.ts';
import type { AccountControl, CommandedBy } from './account-control.ts';
import type { AssertionControl } from './assertion-control.ts';
import type { IdentifyCaller } from './caller.ts';
import type { KeyControl } from './key-control.ts';
import { type Query, readQuery } from './query.ts';
import type { StoreControl } from './store-control.ts';
import type { ReceiveWebhook } from './webhooks.ts';

export interface CommandsOptions {
  readonly controls: Controls;
  readonly identify: IdentifyCaller;
  /** Authenticates and performs the webhook of a platform. */
  readonly receive: ReceiveWebhook;
  /** Told of each command, which continues when its caller disconnects. The work does not reject. */
  readonly hold: (work: Promise<void>) => void;
  /** Receives internal errors, which callers do not see. */
  readonly onError: (error: unknown) => void;
}

const BODY_LIMIT = 4096;
const LONGEST_ID = 2048;
const LONGEST_REASON = 200;

/** The modules that commands act on. */
interface Controls {
  readonly account: AccountControl;
  readonly keys: KeyControl;
  readonly store: StoreControl;
  /** Sends pending events now. Throws GatewayError `not_found` when no events are configured. */
  readonly events: { retry(decision: CommandedBy): Promise<{ readonly pending: number }> };
  readonly assertions: AssertionControl;
}

interface CommandInput {
  /** The id in the path; '' for a command without one. */
  readonly id: string;
  readonly query: Query;
  /** The members of the body other than `by` and `reason`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly decision: CommandedBy;
}

type Command = readonly [
  method: 'GET' | 'POST',
  path: string,
  /** The allowed query parameters of a GET, or members of the body of a POST. */
  allowed: readonly string[],
  run: (input: CommandInput) => Promise<object>,
];

const PAGED = ['cursor', 'limit'];

/** Every command. */
function commandsOf({ account, keys, store, events, assertions }: Controls): readonly Command[] {
  return [
    ['GET', '/members', ['q', ...PAGED], ({ query }) => account.listMembers(query.text('q'), query.page())],
    ['GET', '/members/:id', [], ({ id }) => account.describeMember(id)],
    ['POST', '/members/:id/revoke', [], ({ id, decision }) => account.revokeMember(id, decision)],
    ['POST', '/members/:id/suspend', [], ({ id, decision }) => account.suspendMember(id, decision)],
    ['POST', '/members/:id/resume', [], ({ id, decision }) => account.resumeMember(id, decision)],
    ['GET', '/clients', ['name', 'host', 'kind', ...PAGED], ({ query }) => account.listClients(query)],
    ['GET', '/clients/:id', [], ({ id }) => account.describeClient(id)],
    ['POST', '/clients/:id/revoke', [], ({ id, decision }) => account.revokeClient(id, decision)],
    ['POST', '/clients/:id/disable', [], ({ id, decision }) => account.disableClient(id, decision)],
    ['POST', '/clients/:id/enable', [], ({ id, decision }) => account.enableClient(id, decision)],
    ['POST', '/clients/:id/delete', [], ({ id, decision }) => account.deleteClient(id, decision)],
    ['GET', '/grants', ['member', 'client'], ({ query }) => account.listGrants(query.owner())],
    ['POST', '/grants/:id/revoke', [], ({ id, decision }) => account.revokeGrant(id, decision)],
    ['GET', '/keys', [], () => keys.list()],
    ['POST', '/keys/rotate', ['now'], ({ body, decision }) => keys.rotate(body.now === true, decision)],
    ['POST', '/keys/import', ['key'], ({ body, decision }) => keys.import(body.key, decision)],
    ['POST', '/keys/:id/remove', [], ({ id, decision }) => keys.remove(id, decision)],
    ['POST', '/store/reseal', ['from'], ({ body, decision }) => store.reseal(body.from, decision)],
    ['POST', '/events/retry', [], ({ decision }) => events.retry(decision)],
    ['POST', '/assertions/try', ['member'], ({ body, decision }) => assertions.try(body.member, decision)],
  ];
}

/** The paths of commands. Nothing else is served below them. */
const RESERVED = /^\/(?:(?:members|clients|grants|keys|store|assertions|webhooks)(?:\/|$)|events\/)/;

/** Answers commands and webhooks with JSON or problem JSON (RFC 9457). Other requests are passed on. */
export function commandRouter(options: CommandsOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(RESERVED, (_request, response, next) => {
    response.setHeader('x-request-id', randomUUID());
    next();
  });
  const serve = (method: string, path: string, perform: (request: Request, requestId: string) => Promise<object>) =>
    router.all(path, async (request, response) => {
      if (request.method !== method) throw new GatewayError('method_not_allowed', { headers: { allow: method } });
      const work = perform(request, String(response.getHeader('x-request-id')));
      const finished = Promise.allSettled([work]).then(() => {});
      options.hold(finished);
      writeAnswer(response, json(200, await work, { 'cache-control': 'no-store' }));
    });
  for (const command of commandsOf(options.controls)) {
    const [method, path] = command;
    serve(method, path, (request, requestId) => performCommand(command, request, requestId, options.identify));
  }
  serve('POST', '/webhooks/:name', (request, requestId) =>
    options.receive(String(request.params.name), request, requestId),
  );
  router.all(RESERVED, () => {
    throw new GatewayError('not_found');
  });
  router.use(problems(options.onError));
  return router;
}

async function performCommand(
  [method, , allowed, run]: Command,
  request: Request,
  requestId: string,
  identify: IdentifyCaller,
): Promise<object> {
  // Not express.raw(), which answers a body that is too large only after it has received all of it.
  const body = await readBody(request, BODY_LIMIT);
  const caller = await identify(request, body);
  const { by, reason, rest } = parseDecision(body, method === 'POST' ? allowed : []);
  const id = checkedId(String(request.params.id ?? ''));
  const query = readQuery(request.query, method === 'GET' ? allowed : []);
  const decision = { by, reason, ...caller, address: request.socket.remoteAddress, requestId };
  return run({ id, query, body: rest, decision });
}

function problems(onError: CommandsOptions['onError']): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const failure = thrown instanceof URIError ? invalid('The id in the path is not percent-encoded UTF-8.') : thrown;
    const known = asGatewayError(failure);
    if (known.status >= 500) onError(thrown);
    writeAnswer(response, renderFailure(known, 'problem', String(response.getHeader('x-request-id'))));
  };
}

/** Ids are opaque: percent-decoded once, then compared exactly. Throws `invalid_request`. */
function checkedId(id: string): string {
  if (id.length > LONGEST_ID || /\p{Cc}/u.test(id))
    throw invalid('The id in the path is too long or contains control characters.');
  return id;
}

/** Parses the optional body, such as `{"by":"operator","reason":"refund"}`. Throws `invalid_request`. */
function parseDecision(
  body: Buffer,
  more: readonly string[],
): Pick<CommandedBy, 'by' | 'reason'> & { readonly rest: Readonly<Record<string, unknown>> } {
  if (body.length === 0) return { by: 'backend', reason: undefined, rest: {} };
  const besides = more.length === 0 ? '' : `, and ${more.map((name) => `"${name}"`).join(', ')}`;
  const wrong = invalid(
    `The body must be empty or a JSON object with the optional members "by" ("backend" or "operator") and "reason" (text of at most ${LONGEST_REASON} characters)${besides}.`,
  );
  let given: unknown;
  try {
    given = JSON.parse(body.toString('utf8'));
  } catch {
    throw wrong;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong;
  const { by = 'backend', reason, ...rest } = given as Record<string, unknown>;
  if (by !== 'backend' && by !== 'operator') throw wrong;
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > LONGEST_REASON)) throw wrong;
  if (Object.keys(rest).some((name) => !more.includes(name))) throw wrong;
  return { by, reason, rest };
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}
