import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, asGatewayError, GatewayError, renderFailure } from '../../errors.ts';
import { json, writeAnswer } from '../../http/answer.ts';
import { readBody } from '../../http/body.ts';
import type { AccountControl, Decision } from './account-control.ts';
import type { IdentifyCaller } from './caller.ts';

/** The commands of the admin listener: what the school decides about members and apps. */
export interface Commands {
  /** Whether a path is one of a command's. */
  takes(path: string): boolean;
  /** Answers such a request, with JSON or problem JSON (RFC 9457). Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface CommandsOptions {
  readonly control: AccountControl;
  readonly identify: IdentifyCaller;
  /** Told what a caller is not. */
  readonly onError: (error: unknown) => void;
}

const BODY_LIMIT = 4096;
const LONGEST_ID = 2048;
const LONGEST_REASON = 200;

const PATH = /^\/(members|clients)\/([^/?]+)(?:\/([^/?]+))?$/;

type Run = (control: AccountControl, id: string, decision: Decision) => Promise<object>;

/** By method, what is named, and what is to be done with it. */
const COMMANDS: Readonly<Record<string, Run>> = {
  'GET members': (control, id) => control.describeMember(id),
  'POST members revoke': (control, id, decision) => control.revokeMember(id, decision),
  'POST members suspend': (control, id, decision) => control.suspendMember(id, decision),
  'POST members resume': (control, id, decision) => control.resumeMember(id, decision),
  'GET clients': (control, id) => control.describeClient(id),
  'POST clients revoke': (control, id, decision) => control.revokeClient(id, decision),
};

export function createCommands({ control, identify, onError }: CommandsOptions): Commands {
  const answer = async (request: IncomingMessage, requestId: string): Promise<Answer> => {
    const [, kind = '', encodedId = '', verb] = PATH.exec(request.url ?? '') ?? [];
    const name = verb === undefined ? kind : `${kind} ${verb}`;
    const run = COMMANDS[`${request.method} ${name}`];
    if (run === undefined) throw notThere(name);
    const body = await readBody(request, BODY_LIMIT);
    const caller = await identify(request, body);
    const decision = { ...parseDecision(body), ...caller, address: request.socket.remoteAddress, requestId };
    return json(200, await run(control, parseId(encodedId), decision), { 'cache-control': 'no-store' });
  };

  return {
    takes: (path) => PATH.test(path),
    async handle(request, response) {
      const requestId = randomUUID();
      response.setHeader('x-request-id', requestId);
      try {
        writeAnswer(response, await answer(request, requestId));
      } catch (thrown) {
        const failure = asGatewayError(thrown);
        if (failure.status >= 500) onError(thrown);
        writeAnswer(response, renderFailure(failure, 'problem', requestId));
      }
    },
  };
}

function notThere(name: string): GatewayError {
  const allow = ['GET', 'POST'].filter((method) => Object.hasOwn(COMMANDS, `${method} ${name}`)).join(', ');
  return allow === '' ? new GatewayError('not_found') : new GatewayError('method_not_allowed', { headers: { allow } });
}

/** Ids are opaque: percent-decoded once, then compared byte for byte. Throws `invalid_request`. */
function parseId(encoded: string): string {
  let id: string;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    throw new GatewayError('invalid_request', { message: 'The id in the path is not percent-encoded UTF-8.' });
  }
  if (id.length > LONGEST_ID || /\p{Cc}/u.test(id))
    throw new GatewayError('invalid_request', { message: 'No id looks like the one in the path.' });
  return id;
}

/** In: the body, which may be left out: `{"by":"operator","reason":"refund"}`. Throws `invalid_request`. */
function parseDecision(body: Buffer): Pick<Decision, 'by' | 'reason'> {
  if (body.length === 0) return { by: 'backend', reason: undefined };
  const wrong = new GatewayError('invalid_request', {
    message: `The body must be left out, or a JSON object with "by" ("backend" or "operator") and "reason" (a text of at most ${LONGEST_REASON} characters), neither of them needed.`,
  });
  let given: unknown;
  try {
    given = JSON.parse(body.toString('utf8'));
  } catch {
    throw wrong;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong;
  const { by = 'backend', reason, ...others } = given as Record<string, unknown>;
  if (by !== 'backend' && by !== 'operator') throw wrong;
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > LONGEST_REASON)) throw wrong;
  if (Object.keys(others).length > 0) throw wrong;
  return { by, reason };
}
