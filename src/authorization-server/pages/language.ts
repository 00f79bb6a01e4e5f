import Negotiator from 'negotiator';
import type { PageLanguage } from '../../config/pages.ts';

/** Limits what anyone can send. No real client exceeds it. */
const MOST_WISHES = 20;

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
  const wishes = new Negotiator({ headers: { 'accept-language': acceptLanguage ?? '' } }).languages();
  return { language: lookUp(spoken, wishes) ?? first, asked: true };
}

/** Lookup of RFC 4647 section 3.4. The pages have no regional variants, so only the first subtag counts. */
function lookUp(spoken: readonly PageLanguage[], wishes: readonly string[]): PageLanguage | undefined {
  const considered = wishes.filter(Boolean).slice(0, MOST_WISHES);
  const subtags = considered.map((wish) => wish.split('-', 1)[0]?.toLowerCase());
  return subtags.flatMap((subtag) => spoken.find((language) => language === subtag) ?? [])[0];
}
