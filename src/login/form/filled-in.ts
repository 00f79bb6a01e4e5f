import { valueIn } from '../whoami/json-answer.ts';
import { unusable } from '../whoami/unusable.ts';

const PLACE = /\{(\/[^{}]*)\}/g;

/** Values that are valid in a header, and in a path once percent-encoded. */
const VALUE = /^[\x21-\x7E]{1,4096}$/;

/**
 * Replaces each `{/pointer}` in a text by the value in the document, encoded by `write`.
 *
 * @throws {GatewayError} `login_unavailable` when a value is missing or unusable, since a call without its token could
 * return another member
 */
export function filledIn(text: string, document: unknown, write: (value: string) => string): string {
  return text.replace(PLACE, (_, pointer: string) => {
    const found = valueIn(document, pointer);
    const value = typeof found === 'number' ? String(found) : found;
    if (typeof value !== 'string' || !VALUE.test(value)) throw unusable(`nothing usable at ${pointer}`);
    return write(value);
  });
}
