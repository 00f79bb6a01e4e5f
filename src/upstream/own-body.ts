import { GatewayError, invalidRequest } from '../errors.ts';
import { isUtf8Json, readBody, utf8Text } from '../http/body.ts';
import type { Exchange, ReplacedRequest } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import type { Principal } from '../oauth/principal.ts';
import { requestFraming } from './framing.ts';
import { jsonMembers } from './json-members.ts';
import type { ParameterNames } from './parameter-name.ts';

/** Such a body is held in memory whole and parsed on the one thread that serves all requests. */
export const LONGEST_BODY = 1024 * 1024;

/** Digests of a body that is not the one sent on (RFC 9530, RFC 1864). */
const DIGESTS = new Set(['content-digest', 'repr-digest', 'digest', 'content-md5']);

/**
 * Restricts the body of an admitted request to the member who sends it. Returns the body and fields to send on instead,
 * or undefined if there is no body and none is needed.
 * Throws GatewayError `invalid_request`, `unsupported_media_type` or `payload_too_large`.
 */
export type OwnBody = (exchange: Exchange) => Promise<ReplacedRequest | undefined>;

/**
 * Accepts one JSON object only: in a form, or in an unknown type, there is no telling what an upstream reads under
 * these names. Only the top-level members are checked and changed.
 * @param names the names that are reserved for the member's id and removed from what the client sent
 * @param set those of them that are set in the body
 * @param limit maximum size in bytes
 */
export function ownBody(names: ParameterNames, set: readonly string[], limit: number): OwnBody {
  return async ({ request, principal, replacement: read }) => {
    if (requestFraming(request).kind === 'none') {
      if (set.length > 0) throw notAnObject();
      return undefined;
    }
    const types = fieldValues(request.rawHeaders, 'content-type');
    if (types.length !== 1 || !isUtf8Json(types[0] as string)) throw notJson();
    const bytes = read?.body ?? (await readBody(request, Math.min(limit, LONGEST_BODY)));
    const members = jsonMembers(utf8Text(bytes));
    if (members === undefined) throw notAnObject();
    const id = JSON.stringify(memberId(principal));
    const ours = set.map((name) => `${JSON.stringify(name)}:${id}`);
    const kept = members.filter(({ name }) => !names.inJson(name)).map(({ text }) => text);
    return {
      body: Buffer.from(`{${[...ours, ...kept].join(',')}}`),
      rawHeaders: withoutDigests(request.rawHeaders),
    };
  };
}

function memberId(principal: Principal): string {
  if (principal.kind !== 'member') throw new GatewayError('internal');
  return principal.sub;
}

function withoutDigests(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !DIGESTS.has((raw[at - (at % 2)] as string).toLowerCase()));
}

function notJson(): GatewayError {
  return new GatewayError('unsupported_media_type', { message: 'This address takes application/json in UTF-8 only.' });
}

function notAnObject(): GatewayError {
  return invalidRequest('This address takes a JSON object.');
}
