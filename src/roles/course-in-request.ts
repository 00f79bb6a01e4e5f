import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors.ts';
import { isUtf8Json, mediaType, readBody, utf8Text } from '../http/body.ts';
import type { ReplacedRequest } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { decodedComponent } from '../http/percent.ts';
import { requestFraming } from '../upstream/framing.ts';
import { jsonMembers } from '../upstream/json-members.ts';
import { LONGEST_BODY } from '../upstream/own-body.ts';
import { parameterNames } from '../upstream/parameter-name.ts';

/** Ids of courses, by the name that a rule gives their place. */
type CourseIds = ReadonlyMap<string, string>;

/** A body that was read to find the course in it, to be sent on unchanged. */
export interface SentBody {
  readonly courses: CourseIds;
  readonly replacement?: ReplacedRequest;
}

/** Finds courses in the bodies of requests. */
export type CourseBody = ReturnType<typeof courseBody>;

/**
 * Reads a parameter as every server reads it: it is there once, in exactly this spelling. `value` is undefined if there
 * is none. `isClear` is false if servers could disagree.
 * @returns takes a query, '' or '?…'
 */
export function courseParameter(name: string) {
  const names = parameterNames([name]);
  return (query: string): { readonly value: string | undefined; readonly isClear: boolean } => {
    const others = new Set(names.othersIn(query));
    const [found = '', another] = query
      .slice(1)
      .split('&')
      .filter((piece) => piece !== '' && !others.has(piece));
    const value = found.startsWith(`${name}=`)
      ? decodedComponent(found.slice(name.length + 1).replaceAll('+', ' '))
      : undefined;
    // The server may decode it again.
    const isRead = found === '' || (value !== undefined && !value.includes('%'));
    return { value, isClear: isRead && another === undefined && !found.includes(';') && !names.hiddenIn(query) };
  };
}

/**
 * Reads members of a JSON object, or fields of a form. Servers merge the query into either, so it must not name them.
 * @param limit maximum size in bytes
 */
export function courseBody(names: readonly string[], limit: number) {
  const places = names.map((name) => ({ name, spellings: parameterNames([name]), parameter: courseParameter(name) }));
  const found = (idAt: (place: (typeof places)[number]) => string | undefined): CourseIds =>
    new Map(
      places.flatMap((place) => {
        const value = idAt(place);
        return value === undefined ? [] : [[place.name, value] as const];
      }),
    );

  const inJson = (text: string) => {
    const members = jsonMembers(text);
    if (members === undefined) throw invalidRequest('This address takes a JSON object.');
    return found(({ name, spellings }) => {
      const [first, another] = members.filter((member) => spellings.inJson(member.name));
      if (first === undefined) return undefined;
      const value: unknown = JSON.parse(`{${first.text}}`)[name];
      const id = Number.isSafeInteger(value) ? String(value) : value;
      if (another !== undefined || typeof id !== 'string') throw unclear(name);
      return id;
    });
  };
  const inForm = (text: string) =>
    found(({ name, parameter }) => {
      const { value, isClear } = parameter(`?${text}`);
      if (!isClear || !/^[\x21-\x7E]*$/.test(text)) throw unclear(name);
      return value;
    });

  return {
    /** Finds them in a JSON object. Throws GatewayError `invalid_request`. */
    inJson,
    /**
     * Reads the body of a request. Throws GatewayError `invalid_request` if servers could read different courses in it,
     * `unsupported_media_type` or `payload_too_large`.
     */
    async read(request: IncomingMessage, query: string): Promise<SentBody> {
      for (const { name, parameter } of places) {
        const { value, isClear } = parameter(query);
        if (value !== undefined || !isClear) throw unclear(name);
      }
      if (requestFraming(request).kind === 'none') return { courses: new Map() };
      const [type = '', another] = fieldValues(request.rawHeaders, 'content-type');
      const isForm = mediaType(type) === 'application/x-www-form-urlencoded';
      if (another !== undefined || !(isForm || isUtf8Json(type))) throw unknownType();
      const body = await readBody(request, Math.min(limit, LONGEST_BODY));
      const courses = (isForm ? inForm : inJson)(utf8Text(body));
      return { courses, replacement: { body, rawHeaders: request.rawHeaders } };
    },
  };
}

function unclear(name: string): GatewayError {
  return invalidRequest(`Name the course once, in the body, as ${name}: a text or a whole number.`);
}

function unknownType(): GatewayError {
  return new GatewayError('unsupported_media_type', {
    message: 'This address takes application/json in UTF-8, or application/x-www-form-urlencoded.',
  });
}
