import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import type { Exchange, Replacement } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import type { Principal } from '../oauth/principal.ts';
import { requestFraming } from './framing.ts';
import { jsonMembers } from './json-members.ts';
import type { ParameterNames } from './parameter-name.ts';

/** Such a body is held in memory whole, and looked at by the one thread that serves everybody. */
const LONGEST = 1024 * 1024;

/** They speak of a body that is not the one that is sent on (RFC 9530, RFC 1864). */
const DIGESTS = new Set(['content-digest', 'repr-digest', 'digest', 'content-md5']);

/**
 * Keeps the body of a request to the member who asks. In: an admitted exchange. Out: what is sent on in place of the
 * body and the fields that came, or undefined when there is no body and none is needed.
 * Throws GatewayError `invalid_request`, `unsupported_media_type` or `payload_too_large`.
 */
export type OwnBody = (exchange: Exchange) => Promise<Replacement | undefined>;

/**
 * In: the names that are the member's and must come from nobody else, those of them that are set in the body, and the
 * most bytes to take. Taken is one JSON object: in a form, or in an unknown type, nobody could say what an upstream
 * reads under these names. Only members of the object itself are looked at, and only they are changed.
 */
export function ownBody(names: ParameterNames, set: readonly string[], limit: number): OwnBody {
  return async ({ request, principal }) => {
    if (requestFraming(request).kind === 'none') {
      if (set.length > 0) throw notAnObject();
      return undefined;
    }
    const types = fieldValues(request, 'content-type');
    if (types.length !== 1 || !isJson(types[0] as string)) throw notJson();
    const members = jsonMembers(textOf(await readBody(request, Math.min(limit, LONGEST))));
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

/** Another charset, and the upstream would read another text than we do. */
function isJson(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  return /^application\/([\w.-]+\+)?json$/.test(mediaType(contentType)) && /^utf-?8$/i.test(charset);
}

/** JSON is UTF-8 (RFC 8259 §8.1); '' for other bytes, which is no JSON. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
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
  return new GatewayError('invalid_request', { message: 'This address takes a JSON object.' });
}
