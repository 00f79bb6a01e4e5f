// Finds method overrides (`_method=DELETE`) in queries, forms, multipart bodies and JSON, so that a request cannot
// reach the backend with a method that its route does not admit.

import { GatewayError } from '../../errors.ts';
import { fieldValues } from '../../http/field-values.ts';
import { decodings } from '../../http/percent.ts';
import type { BodyScan, OverrideCheck } from './body-scan.ts';
import { formScan } from './form-scan.ts';
import { jsonScan } from './json-scan.ts';
import { multipartScan } from './multipart-scan.ts';
import { methodOf, overrideName } from './names.ts';

/**
 * Frameworks let a parameter such as `_method=DELETE` replace the method of a request. A route that admits POST would
 * then admit DELETE too, so the request is refused unless the other method is also admitted.
 *
 * @param admits whether the request would be admitted with this method as well
 */
export function methodOverrides(admits: (method: string) => boolean) {
  const checkIn =
    (place: string): OverrideCheck =>
    (method) => {
      if (method === undefined || !admits(method)) throw refused(place, method);
    };
  return {
    /**
     * Throws GatewayError `method_override` if the query asks for a method that is not admitted. `query` is '' or '?…'.
     */
    checkQuery(query: string): void {
      const check = checkIn('query');
      for (const piece of query.slice(1).split(/[&;]/)) checkPair(piece, check);
    },
    /**
     * Returns a scanner for the body; undefined if no framework looks for parameters in a body of this type. Throws
     * GatewayError `invalid_request` for a content type that is malformed or ambiguous, and `unsupported_media_type` for
     * a compressed body.
     */
    scan(rawHeaders: readonly string[]): BodyScan | undefined {
      const types = fieldValues(rawHeaders, 'content-type');
      const type = types[0] ?? '';
      if (types.length > 1 || (type !== '' && !MEDIA_TYPE.test(type))) throw unclear('has a malformed Content-Type');
      const scan = scanOf(type, checkIn('body'));
      if (scan === undefined) return undefined;
      if (fieldValues(rawHeaders, 'content-encoding').some((coding) => !/^\s*(identity)?\s*$/i.test(coding)))
        throw new GatewayError('unsupported_media_type', {
          message: 'Compressed forms and JSON are not accepted here: send them without Content-Encoding.',
        });
      return scan;
    },
  };
}

/**
 * Checks one `name=value` of a query. The value counts too: to a server that decodes twice, `a=1%26_method=DELETE` is
 * two parameters.
 */
function checkPair(piece: string, check: OverrideCheck): void {
  const mark = piece.indexOf('=');
  const kind = overrideName(mark === -1 ? piece : piece.slice(0, mark));
  if (kind === 'hidden') check(undefined);
  if (kind === 'plain') check(methodOf(mark === -1 ? '' : piece.slice(mark + 1)));
  const hidden = decodings(piece).flatMap((level) => level.split(/[&;]/).slice(1));
  if (hidden.some((inner) => overrideName(inner.split('=', 1)[0] ?? '') !== 'none')) check(undefined);
}

/** RFC 9110 section 8.3.1. Unquoted boundaries are often not tokens, as in `boundary==_abc`. */
const MEDIA_TYPE =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[ \t]*;[ \t]*(?:[\w!#$%&'*+.^`|~-]+=(?:"[^"\\]*"|[^\s;",]+))?)*[ \t]*$/;
/** In other character sets (UTF-16, UTF-7, EBCDIC) the same bytes are different names. */
const LIKE_ASCII = /^(utf-?8|us-ascii|ascii|iso-8859-(1|15)|latin1|windows-1252)$/;

function scanOf(contentType: string, check: OverrideCheck): BodyScan | undefined {
  const type = contentType.toLowerCase();
  const media = type.split(';', 1)[0]?.trim() ?? '';
  // Without a type, Rack reads a POST as a form. Laravel reads JSON whenever the value contains `/json` or `+json`.
  const isForm = media === '' || media === 'application/x-www-form-urlencoded';
  const isMultipart = media.startsWith('multipart/');
  const isJson = type.includes('json');
  if (Number(isForm) + Number(isMultipart) + Number(isJson) > 1) throw unclear('could be read as two content types');
  if (!isForm && !isMultipart && !isJson) return undefined;
  const charsets = [...type.matchAll(/charset\s*=\s*"?([^\s;"]*)/g)].map(([, charset = '']) => charset);
  if (charsets.length > 1 || !charsets.every((charset) => LIKE_ASCII.test(charset)))
    throw unclear('has a character set that is not accepted here: send UTF-8');
  if (isForm) return formScan(check);
  if (isJson) return jsonScan(check);
  const [, quoted, plain] = /;[ \t]*boundary=(?:"([^"]*)"|([^\s;",]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  // PHP takes the first `boundary` that it finds anywhere, up to a comma.
  if (type.split('boundary').length !== 2 || !/^[\w'()+./:=?-]{1,200}$/.test(boundary))
    throw unclear('has no boundary, or an ambiguous one');
  return multipartScan(boundary, media === 'multipart/form-data', check);
}

function refused(place: string, method: string | undefined): GatewayError {
  const asked = method === undefined ? 'another method' : `the method ${method}`;
  return new GatewayError('method_override', {
    message: `A parameter in the ${place} of this request (_method or the like) asks for ${asked}, which is not allowed here. Send the request with the method that you mean.`,
    headers: { connection: 'close' },
  });
}

function unclear(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `The request ${what}.`,
    headers: { connection: 'close' },
  });
}
