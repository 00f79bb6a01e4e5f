import type { PageLanguage, Translatable } from '../../config/pages.ts';
import { Html, type HtmlValue, html } from '../../http/html.ts';
import en from './i18n/en.json' with { type: 'json' };
import es from './i18n/es.json' with { type: 'json' };

export type Phrase = keyof typeof en;
export type Catalogue = Readonly<Record<Phrase, string>>;

const CATALOGUES: Readonly<Record<PageLanguage, Catalogue>> = { en, es };

/** The phrases of the pages in one language. `{school}` can be used in every phrase. */
export interface Words {
  readonly language: PageLanguage;
  readonly direction: string;
  /** A phrase as plain text, for titles. */
  text(phrase: Phrase, values?: Readonly<Record<string, string>>): string;
  /** A phrase as markup. Text values are isolated, so that right-to-left text cannot reorder what surrounds it. */
  html(phrase: Phrase, values?: Readonly<Record<string, HtmlValue>>): Html;
  /** Text from the configuration, in another language if it is not translated into this one. */
  own(text: Translatable): string;
}

export function createWords(language: PageLanguage, school: string, catalogue = CATALOGUES[language]): Words {
  return {
    language,
    direction: catalogue.direction,
    text: (phrase, values = {}) =>
      fill(catalogue[phrase], (name) => isolate(name === 'school' ? school : (values[name] ?? ''))).join(''),
    html: (phrase, values = {}) =>
      html`${fill<HtmlValue>(catalogue[phrase], (name) => asMarkup(name === 'school' ? school : values[name]))}`,
    own: (text) => (typeof text === 'string' ? text : (text[language] ?? Object.values(text).find(Boolean) ?? '')),
  };
}

/** The phrase in English, for logs. */
export function inEnglish(phrase: Phrase): string {
  return en[phrase];
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
  return RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
}
