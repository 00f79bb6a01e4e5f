import { randomUUID } from 'node:crypto';
import type { callerCheck } from '../../authorization-server/administration/caller.ts';
import { asGatewayError, invalidRequest, renderFailure } from '../../errors.ts';
import { json, writeAnswer } from '../../http/answer.ts';
import { readBody } from '../../http/body.ts';
import { objectOf } from '../../http/json-object.ts';
import type { AdminOptions } from '../../operations/admin.ts';
import type { Log } from '../../operations/log.ts';
import type { MoveStep, SchoolMoves } from './moves.ts';

/** Bytes: entries of 256 KiB, or one of at most 4 MiB, sealed. A body is read before its signature is checked. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** The commands about the store of a process with many schools: POST /store/STEP. Its operators send them, and no school's. */
export function schoolCommands(
  moves: SchoolMoves,
  identify: ReturnType<typeof callerCheck>,
  log: Log,
): AdminOptions['commands'] {
  return async (request, response, next) => {
    const [, name = ''] = /^\/store\/([a-z]+)$/.exec(request.path) ?? [];
    const step = Object.hasOwn(moves, name) ? moves[name] : undefined;
    if (step === undefined || request.method !== 'POST') return next();
    const requestId = randomUUID();
    try {
      const body = await readBody(request, BODY_LIMIT);
      const { certificate } = await identify(request, body);
      const { reason, ...given } = parsed(body);
      const address = request.socket.remoteAddress;
      const answer = await step(given, { by: 'operator', reason, address, certificate, requestId });
      writeAnswer(response, json(200, answer, { 'cache-control': 'no-store' }));
    } catch (thrown) {
      const failure = asGatewayError(thrown);
      if (failure.status >= 500) log.error({ err: thrown }, 'a command failed');
      writeAnswer(response, renderFailure(failure, 'problem', requestId));
    }
  };
}

const TEXT = /^[^\0]*$/;
const FORMS = {
  name: /^[a-z0-9][a-z0-9-]{0,62}$/,
  id: /^[0-9a-f]{24}$/,
  sealed: TEXT,
  /** As a store has given it. */
  from: /^[\s\S]{0,1000}$/,
  reason: /^[^\0]{0,200}$/,
} as const;

/** Throws GatewayError `invalid_request`. */
function parsed(body: Buffer): MoveStep & { readonly reason: string | undefined } {
  let given: unknown;
  try {
    given = JSON.parse(body.toString('utf8'));
  } catch {}
  const fields = objectOf(given);
  const text = (name: keyof typeof FORMS): string | undefined => {
    const value = fields[name];
    if (value === undefined || (typeof value === 'string' && FORMS[name].test(value))) return value;
    throw invalidRequest(`"${name}" is not valid.`);
  };
  const { name = '', id = '', sealed = '' } = { name: text('name'), id: text('id'), sealed: text('sealed') };
  return { name, id, sealed, from: text('from'), reason: text('reason') };
}
