import { JsonTooLarge, parseBoundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
import { unusable } from './unusable.ts';

/**
 * In: the body of an answer. Out: the document in it. Throws GatewayError `login_unavailable` when it is no JSON, without
 * the parser's words: they quote the body into the log, and a backend that is ill may repeat the password in it.
 */
export function jsonAnswer(body: string): unknown {
  try {
    return parseBoundedJson(body, RECORD_BOUNDS);
  } catch (thrown) {
    throw unusable(thrown instanceof JsonTooLarge ? `JSON that ${thrown.message}` : 'no JSON');
  }
}
