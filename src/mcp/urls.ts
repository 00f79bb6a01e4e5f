import { parseFragment } from 'parse5';

/** Schemes that run or contain what they name. `blob:` and `file:` name nothing that a member of a site could link to. */
const ACTIVE = /^(?:javascript|vbscript|livescript|data|blob|file|filesystem|view-source|about):/i;
/** What a browser drops from a URL before it reads the scheme (WHATWG URL §4.4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const DROPPED = /[\u0000-\u0020\u007F]+/g;
const LONGEST = 2000;

/** Whether the destination of a link does something when it is followed, or is too long to be one. */
export function isActive(url: string): boolean {
  return url.length > LONGEST || ACTIVE.test(url.replace(DROPPED, ''));
}

/** Whether a link's destination as Markdown spells it, with entities and backslashes (CommonMark §2.4, §2.5), is active. */
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

/** As the destination of a Markdown link: nothing in it ends it early. */
export function asDestination(url: string): string {
  return url.trim().replace(/[\s<>()[\]\\`!]/g, (char) => encodeURIComponent(char).replace(/[()!]/, escaped));
}

function escaped(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
