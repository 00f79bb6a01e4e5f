import { JsonTooLarge, parseBoundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
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

/** Like `jsonAnswer`, but returns undefined if the body is not JSON. */
export function jsonOrNothing(body: string): unknown {
  try {
    return parseBoundedJson(body, RECORD_BOUNDS);
  } catch {
    return undefined;
  }
}
