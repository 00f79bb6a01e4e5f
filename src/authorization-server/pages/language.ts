import type { PageLanguage } from '../../config/pages.ts';

/** Limits for values that anyone can send. No real client exceeds them. */
const MOST_WISHES = 20;
const LONGEST_WISH = 64;

/**
 * Chooses the language of a page: from `ui_locales` (OpenID Connect Core section 3.1.2.1), then from Accept-Language,
 * then the first of `spoken`. `uiLocales` may be any value that was sent. `asked` tells whether Accept-Language was
 * considered, in which case the response varies by it.
 */
export function chooseLanguage(
  spoken: readonly PageLanguage[],
  uiLocales: unknown,
  acceptLanguage: string | undefined,
): { readonly language: PageLanguage; readonly asked: boolean } {
  const [first = 'en'] = spoken;
  if (spoken.length < 2) return { language: first, asked: false };
  const ofApp = lookUp(spoken, typeof uiLocales === 'string' ? uiLocales.split(' ') : []);
  if (ofApp !== undefined) return { language: ofApp, asked: false };
  return { language: lookUp(spoken, byWeight(acceptLanguage ?? '')) ?? first, asked: true };
}

/** Lookup of RFC 4647 section 3.4: each range in turn, shortened from the end until it matches: `es-MX`, then `es`. */
function lookUp(spoken: readonly PageLanguage[], wishes: readonly string[]): PageLanguage | undefined {
  for (const wish of wishes.filter(Boolean).slice(0, MOST_WISHES)) {
    if (wish.length > LONGEST_WISH) continue;
    const parts = wish.toLowerCase().split('-');
    for (let length = parts.length; length > 0; length -= 1) {
      const range = parts.slice(0, length).join('-');
      const found = spoken.find((language) => language === range);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The language ranges of an Accept-Language field, by descending weight (RFC 9110 section 12.5.4). */
function byWeight(field: string): readonly string[] {
  return field
    .split(',', MOST_WISHES)
    .map((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { range, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
}
