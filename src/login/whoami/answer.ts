import { compilePattern } from '../../config/pattern.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { jsonAnswer, valueIn } from './json-answer.ts';
import type { AnswerFormat } from './settings.ts';
import { unusable } from './unusable.ts';

/** The value at a selector: a JSON value, or the text of a header field or of a pattern's capture. */
export type ValueAt = (selector: string) => unknown;

/** Maximum length, in characters, of a page that patterns are applied to. */
const LONGEST_PAGE = 1024 * 1024;

/** The named references of U+00A0 to U+00FF, in order: those that PHP's htmlentities uses for Western European text. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCodePoint(0xa0 + index)] as const),
]);

/**
 * Creates a reader for the backend's answers, which takes one answer and returns access to its values. Throws
 * GatewayError `login_unavailable` for an answer in another format, and for a selector that has several values in it.
 * @param selectors - all selectors that will be used
 */
export function answerReader(
  format: AnswerFormat,
  selectors: readonly (string | undefined)[],
): (answer: UpstreamResponse) => ValueAt {
  switch (format) {
    case 'json':
      return ({ body }) => {
        const document = jsonAnswer(body);
        return (pointer) => valueIn(document, pointer);
      };
    case 'header':
      return (answer) => (name) => answer.headers[name.toLowerCase()];
    case 'html': {
      const patterns = new Map(
        selectors.flatMap((source) => (source === undefined ? [] : [[source, compilePattern(source)] as const])),
      );
      return ({ body }) => {
        if (body.length > LONGEST_PAGE) throw unusable('a page too long to look for the member in');
        return (source) => {
          const [captured, another] = patterns.get(source)?.captures(body) ?? [];
          if (another !== undefined) throw unusable(`a page in which ${source} matches different values`);
          return captured === undefined ? undefined : htmlText(captured);
        };
      };
    }
  }
}

/**
 * Decodes HTML text, once: numeric references, the five named ones of XML, and those of Latin-1. Other references are
 * left unchanged.
 */
function htmlText(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#[xX]([\dA-Fa-f]{1,6})|(\w{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
