import { html, Token, TokenizerMode } from 'parse5';

/** Elements whose content is not text of the page (HTML section 13.1.2) or is drawn instead of read. */
export const UNREAD = new Set('script style template iframe noembed noframes svg datalist applet'.split(' '));
/** Tokenizer states for their content (HTML section 13.2.6.4). */
export const MODES: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};
export const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
);
export const BLOCKS = new Set(
  'address article aside blockquote caption dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** These end at the next element of the same name, whether or not they are closed. */
export const SELF_ENDING = new Set(['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option']);
const HIDDEN_STYLE =
  /display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|(?:opacity|font-size):0?\.?0*(?:[a-z%]*)(?:;|!|$)/;

/** Whether a tag name is an HTML element: in `List<String>` and `<your-name>` the brackets are part of the text. */
export function isElement(name: string): boolean {
  return html.getTagID(name) !== html.TAG_ID.UNKNOWN || OTHERS.has(name);
}
/** HTML elements that the parser has no special rules for. */
const OTHERS = new Set(
  'abbr acronym audio bdi bdo blink canvas cite content data datalist del dfn dialog ins isindex kbd label legend map meter mark output picture portal progress q rb rp rt rtc ruby samp selectedcontent slot sub sup time tfoot var video spacer strike'.split(
    ' ',
  ),
);

/** Whether angle brackets are part of the prose instead of a tag. A tag with an attribute value never is. */
export function isWords({ tagName: name, attrs }: Token.TagToken, source: string): boolean {
  if (attrs.some(({ value }) => value !== '')) return false;
  if (!isElement(name)) return /^<\/?[^/=]*\/?>$/.test(source);
  if (UNREAD.has(name) || Object.hasOwn(MODES, name)) return false;
  // `List<Object>`, `<Button>`, and "a <b and c> d".
  if (attrs.length === 0) return /^<\/?[A-Z][A-Za-z]*[a-z][A-Za-z]*>$/.test(source);
  return attrs.length > 0 && !attrs.some((attr) => attr.name === 'hidden') && !VOID.has(name);
}

/**
 * Escapes a second angle bracket inside the first, as in `Map<String, List<Course>>`, which Markdown takes for the
 * start of a tag.
 */
export function asWords(source: string): string {
  const inner = source.slice(1).replace(/<([a-z/!?][^<>]*)(?=(>?))/gi, (tag: string, name: string, end: string) => {
    const isName = end !== '' && /^[A-Z][A-Za-z]*[a-z][A-Za-z]*$/.test(name);
    const isRead = !UNREAD.has(name.toLowerCase()) && !Object.hasOwn(MODES, name.toLowerCase());
    return isName && isRead ? tag : `&lt;${name}`;
  });
  return source.slice(0, 1) + inner;
}

/** A tag that is only mentioned, as in "the <b> tag": HTML requires an end tag, and there is none. */
export function isMentioned({ tagName: name, attrs }: Token.TagToken): boolean {
  return attrs.length === 0 && !VOID.has(name) && !BLOCKS.has(name) && !SELF_ENDING.has(name);
}

export function isHidden(token: Token.TagToken): boolean {
  if (Token.getTokenAttr(token, 'hidden') !== null) return true;
  const style = Token.getTokenAttr(token, 'style');
  if (style === null) return false;
  // A comment without an end takes in all of the rest (CSS Syntax section 4.3.2), so that no match is begun twice.
  const bare = style.toLowerCase().replace(/\/\*.*?(?:\*\/|$)|\s+/gs, '');
  return bare.includes('\\') || HIDDEN_STYLE.test(bare);
}
