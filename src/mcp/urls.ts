import { parseFragment } from 'parse5';
import { encodedComponent } from '../http/percent.ts';

/**
 * Schemes whose URLs run code or contain their content. A member of a site cannot link to anything with `blob:` or
 * `file:` either.
 */
const ACTIVE = /^(?:javascript|vbscript|livescript|data|blob|file|filesystem|view-source|about):/i;
/** Characters that browsers drop from a URL before reading its scheme (WHATWG URL section 4.4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const DROPPED = /[\u0000-\u0020\u007F]+/g;
const LONGEST = 2000;

/** Whether following this link could run something, or it is too long to be a real link. */
export function isActive(url: string): boolean {
  return url.length > LONGEST || ACTIVE.test(url.replace(DROPPED, ''));
}

/**
 * The same for a destination in Markdown syntax, with entities and backslash escapes (CommonMark sections 2.4 and
 * 2.5).
 */
export function isActiveInMarkdown(source: string): boolean {
  if (source.length > LONGEST) return true;
  const bare = source.replace(/^<|>$/g, '').replace(/\\(?=[!-/:-@[-`{-~])/g, '');
  return isActive(bare) || isActive(decoded(bare));
}

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  const [node] = parseFragment(text.replaceAll('<', '&lt;')).childNodes;
  return node !== undefined && 'value' in node ? node.value : text;
}

/** Encodes a URL as the destination of a Markdown link, so that no character in it ends the link early. */
export function asDestination(url: string): string {
  return url.trim().replace(/[\s<>()[\]\\`!]/g, encodedComponent);
}
