import ar from '../../config/i18n/ar.json' with { type: 'json' };
import de from '../../config/i18n/de.json' with { type: 'json' };
import en from '../../config/i18n/en.json' with { type: 'json' };
import es from '../../config/i18n/es.json' with { type: 'json' };
import fr from '../../config/i18n/fr.json' with { type: 'json' };
import type { PageLanguage, Translatable } from '../../config/pages.ts';
import { Html, type HtmlValue, html } from '../../http/html.ts';

type Key = keyof typeof en;

/** A phrase about a number: one text for each plural form of the language, such as `KEY_one` and `KEY_other`. */
type CountedPhrase = Key extends infer K ? (K extends `${infer Phrase}_other` ? Phrase : never) : never;
export type Phrase = Exclude<Key, `${CountedPhrase}_${Intl.LDMLPluralRule}`>;

/** Languages with more plural forms than English have more keys. */
export type Catalogue = Readonly<Record<Key, string>>;

const BUILT_IN: Readonly<Record<string, Catalogue>> = { en, es, de, fr, ar };

/**
 * Locales for dates and numbers where the language alone does not settle it. English readers differ in the order of day
 * and month, but all understand "22 Nov 2026". Arabic readers differ in calendar and digits; these match the digits in
 * addresses and IDs.
 */
const LOCALES: Readonly<Record<string, string>> = { en: 'en-GB', ar: 'ar-u-ca-gregory-nu-latn' };

/** The phrases of the pages in one language. `{school}` can be used in every phrase. */
export type Words = ReturnType<typeof createWords>;

/** The phrases of the operator's catalogue, completed by the built-in one for the language, and by English. */
export function catalogueOf({ tag, phrases }: PageLanguage): Catalogue {
  return { ...en, ...BUILT_IN[primaryOf(tag)], ...phrases };
}

export function createWords(language: string, school: string, catalogue = catalogueOf({ tag: language, phrases: {} })) {
  // Intl would format a language that it does not know as the machine is set up.
  const locales = [LOCALES[language] ?? language, 'en-GB'];
  const isRtl = catalogue.direction === 'rtl';
  const plain = (value: string) => (isRtl || RIGHT_TO_LEFT.test(value) ? isolate(value) : value);
  const markup = (text: string, values: Readonly<Record<string, HtmlValue>>) =>
    html`${fill<HtmlValue>(text, (name) => asMarkup(name === 'school' ? school : values[name]))}`;
  return {
    language,
    direction: catalogue.direction,
    /** The argument for Intl. */
    locales,
    /** A phrase as plain text, for titles. */
    text: (phrase: Phrase, values: Readonly<Record<string, string>> = {}): string =>
      fill(catalogue[phrase], (name) => plain(name === 'school' ? school : (values[name] ?? ''))).join(''),
    /** A phrase as markup. Text values are isolated, so that right-to-left text cannot reorder what surrounds it. */
    html: (phrase: Phrase, values: Readonly<Record<string, HtmlValue>> = {}): Html => markup(catalogue[phrase], values),
    /** A phrase about a number, in the plural form for it. `{count}` is the number. */
    count(phrase: CountedPhrase, count: number, values: Readonly<Record<string, HtmlValue>> = {}): Html {
      const texts: Readonly<Record<string, string>> = catalogue;
      const form = new Intl.PluralRules(locales).select(count);
      const shown = html`${new Intl.NumberFormat(locales).format(count)}`;
      return markup(texts[`${phrase}_${form}`] ?? catalogue[`${phrase}_other`], { ...values, count: shown });
    },
    /** Items in a sentence: "a, b and c". */
    list: (items: readonly Html[]): Html =>
      html`${new Intl.ListFormat(locales)
        .formatToParts(items.map((_, at) => `${at}`))
        .map(({ type, value }) => (type === 'element' ? items[Number(value)] : value))}`,
    /** Text from the configuration, in another language if it is not translated into this one. */
    own: (text: Translatable): Html =>
      typeof text === 'string' ? html`<bdi>${text}</bdi>` : inLanguage(text, language),
  };
}

/** What a scope is about, in a few words: `orders` for `orders:read`. A scope of the operator's own by its title. */
export function subjectOf(words: Words, token: string, title: Translatable): Html {
  const phrase = `area.${token.split(':', 1)[0]}`;
  return Object.hasOwn(en, phrase) ? words.html(phrase as Phrase) : words.own(title);
}

/** The phrase in English, for logs. */
export function inEnglish(phrase: Phrase): string {
  return en[phrase];
}

/** The text in this language, else in English, else the first. Says which language it is in, for screen readers. */
function inLanguage(texts: Readonly<Record<string, string>>, language: string): Html {
  const primary = primaryOf(language);
  const [other = ''] = Object.keys(texts);
  const found = [language, primary, 'en'].find((tag) => Object.hasOwn(texts, tag)) ?? other;
  const text = texts[found] ?? '';
  return primaryOf(found) === primary ? html`${text}` : html`<bdi lang="${found}">${text}</bdi>`;
}

function primaryOf(language: string): string {
  return language.split('-', 1)[0] ?? '';
}

/** Splits a phrase such as `Signed in as {account}` into parts, with each placeholder replaced by `value(name)`. */
function fill<Value>(phrase: string, value: (name: string) => Value): (string | Value)[] {
  return phrase.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : value(part)));
}

function asMarkup(value: HtmlValue): HtmlValue {
  return value instanceof Html ? value : html`<bdi>${value}</bdi>`;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Isolates with Unicode characters instead of bdi, since a title has no markup (UAX #9 section 2.4). */
function isolate(value: string): string {
  return `\u2068${value}\u2069`;
}
