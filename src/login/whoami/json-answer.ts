import { boundedJson, JsonTooLarge, parseBoundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
import { at } from '../../http/json-pointer.ts';
import { unusable } from './unusable.ts';

/**
 * Parses the body of an answer. Throws GatewayError `login_unavailable` if it is not JSON, without the parser's
 * message: that would quote the body in the log, and a failing backend may repeat the password in it.
 */
export function jsonAnswer(body: string): unknown {
  try {
    return parseBoundedJson(body, RECORD_BOUNDS);
  } catch (thrown) {
    throw unusable(thrown instanceof JsonTooLarge ? `JSON that ${thrown.message}` : 'no JSON');
  }
}

/**
 * The value at a pointer into an answer; undefined if there is none. Throws GatewayError `login_unavailable` if the
 * pointer goes through an array of several elements.
 */
export function valueIn(document: unknown, pointer: string): unknown {
  return at(document, pointer, (what) => {
    throw unusable(what);
  });
}

/** Like `jsonAnswer`, but returns undefined if the body is not JSON. */
export const jsonOrNothing = (body: string): unknown => boundedJson(body, RECORD_BOUNDS);
