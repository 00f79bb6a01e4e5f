import { isElement } from './html-elements.ts';

/** Anything that some HTML reader may take for the start of a tag or a comment. */
export const TAG = /<[a-z/!?]/i;

/** Positions of the last end tag of each element. */
export function lastEndTags(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = text.indexOf('</'); at !== -1; at = text.indexOf('</', at + 2)) {
    const name = END_TAG_NAME.exec(text.slice(at + 2, at + 2 + LONGEST_NAME))?.[0].toLowerCase();
    if (name !== undefined && isElement(name)) found.set(name, at);
  }
  return found;
}
const END_TAG_NAME = /^[a-z][a-z0-9]*/i;
/** Longest name of an HTML element. */
const LONGEST_NAME = 20;

/** The tokenizer compares each attribute of a tag with all attributes before it. */
const MOST_SEPARATORS = 1000;

/** Turns tags with an excessive number of attributes into text. */
export function withoutGiantTags(text: string): string {
  const parts = text.split('>');
  return parts
    .map((part) => {
      const open = part.search(/<[a-z]/i);
      if (open === -1 || part.length - open <= MOST_SEPARATORS) return part;
      return hasManySeparators(part.slice(open)) ? withoutTags(part) : part;
    })
    .join('>');
}

function hasManySeparators(text: string): boolean {
  const separator = /[\s/"'=]+/g;
  for (let count = 0; count <= MOST_SEPARATORS; count += 1) if (!separator.test(text)) return false;
  return true;
}

/**
 * Replaces `<` by an entity wherever a tag could start (HTML section 13.5), so that the result contains no tag in any
 * context.
 */
export function withoutTags(text: string): string {
  // replace() returns a rope with up to two nodes per match, which is slow for the garbage collector to copy.
  return text.split(/<(?=[a-z/!?])/i).join('&lt;');
}
