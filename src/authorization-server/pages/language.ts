import Negotiator from 'negotiator';

/** Limits what anyone can send. No real client exceeds it. */
const MOST_WISHES = 20;
const LONGEST_WISH = 35;

/**
 * Chooses the language of a page: from `ui_locales` (OpenID Connect Core section 3.1.2.1), then from Accept-Language,
 * then the first of `spoken`. `uiLocales` may be any value that was sent. `asked` tells whether Accept-Language was
 * considered, in which case the response varies by it.
 */
export function chooseLanguage(
  spoken: readonly string[],
  uiLocales: unknown,
  acceptLanguage: string | undefined,
): { readonly language: string; readonly asked: boolean } {
  const [first = 'en'] = spoken;
  if (spoken.length < 2) return { language: first, asked: false };
  const ofApp = preferred(spoken, typeof uiLocales === 'string' ? uiLocales.split(' ') : []);
  if (ofApp !== undefined) return { language: ofApp, asked: false };
  const wishes = new Negotiator({ headers: { 'accept-language': acceptLanguage ?? '' } }).languages();
  return { language: preferred(spoken, wishes) ?? first, asked: true };
}

function preferred(spoken: readonly string[], wishes: readonly string[]): string | undefined {
  const considered = wishes.filter(Boolean).slice(0, MOST_WISHES);
  for (const wish of considered) {
    const found = lookUp(spoken, wish) ?? elsewhere(spoken, wish);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lookup of RFC 4647 section 3.4: `zh-Hant-TW-x-any` is looked for, then `zh-Hant-TW`, `zh-Hant` and `zh`. */
function lookUp(spoken: readonly string[], wish: string): string | undefined {
  const subtags = wish.toLowerCase().split('-', MOST_WISHES);
  for (let length = subtags.length; length > 0; length -= 1) {
    const range = subtags.slice(0, length).join('-');
    const found = spoken.find((tag) => tag.toLowerCase() === range);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The same language in the same script, as written elsewhere: `pt-BR` for someone who asks for `pt-PT`. They can read it,
 * and RFC 4647 leaves open what follows a lookup without a result.
 */
function elsewhere(spoken: readonly string[], wish: string): string | undefined {
  const wanted = writtenLanguage(wish);
  return wanted === undefined ? undefined : spoken.find((tag) => writtenLanguage(tag) === wanted);
}

/** Language and script, such as `pt-Latn`; undefined for anything but a language tag. */
function writtenLanguage(tag: string): string | undefined {
  if (tag.length > LONGEST_WISH) return undefined;
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return undefined;
  }
}
