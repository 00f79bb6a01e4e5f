import type { PageLanguage } from '../../config/pages.ts';

/** Anyone can send any header or parameter: more wishes than this are nobody's. */
const MOST_WISHES = 20;
const LONGEST_WISH = 64;

/**
 * Which language a page speaks: that of `ui_locales` (OpenID Connect Core §3.1.2.1), which the app knows from its own
 * pages; then that of the browser; then the first. In: `ui_locales` as it was sent, whatever it may be, and the
 * Accept-Language field. Out: the language, and whether the browser's wish was asked for (then the answer varies by it).
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

/** RFC 4647 §3.4: each wish in turn, cut from its end part by part until it is spoken: `es-MX`, then `es`. */
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

/** RFC 9110 §12.5.4: the language ranges of an Accept-Language field, the most wanted first. */
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
