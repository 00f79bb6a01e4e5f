import { at } from '../../http/json-pointer.ts';
import { unusable } from '../whoami/unusable.ts';

const PLACE = /\{(\/[^{}]*)\}/g;

/** Of a header field, and of a path once it is percent-encoded. */
const VALUE = /^[\x21-\x7E]{1,4096}$/;

/**
 * Fills in `{/pointer}`. In: the text, the document the values are in, and how one is written. Throws GatewayError
 * `login_unavailable` when there is none that can be: a call without its token would be somebody else's, or nobody's.
 */
export function filledIn(text: string, document: unknown, write: (value: string) => string): string {
  return text.replace(PLACE, (_, pointer: string) => {
    const found = at(document, pointer);
    const value = typeof found === 'number' ? String(found) : found;
    if (typeof value !== 'string' || !VALUE.test(value)) throw unusable(`nothing usable at ${pointer}`);
    return write(value);
  });
}
