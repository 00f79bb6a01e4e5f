import type { PageLanguage, Translatable } from '../../config/pages.ts';
import { Html, type HtmlValue, html } from '../../http/html.ts';
import en from './i18n/en.json' with { type: 'json' };
import es from './i18n/es.json' with { type: 'json' };

export type Phrase = keyof typeof en;
export type Catalogue = Readonly<Record<Phrase, string>>;

const CATALOGUES: Readonly<Record<PageLanguage, Catalogue>> = { en, es };

/** What the pages say, in one language. Every phrase knows `school`. */
export interface Words {
  readonly language: PageLanguage;
  readonly direction: string;
  /** As text, for titles. */
  text(phrase: Phrase, values?: Readonly<Record<string, string>>): string;
  /** As markup. Values that are no markup themselves are isolated, so that none turns the text around it. */
  html(phrase: Phrase, values?: Readonly<Record<string, HtmlValue>>): Html;
  /** The operator's own text; in another language when there is none in this one. */
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

/** The phrase as it stands in English: for logs, which have no reader's language. */
export function inEnglish(phrase: Phrase): string {
  return en[phrase];
}

/** In: a phrase such as `Signed in as {account}`. Out: its parts, with each name replaced by what `value` makes of it. */
function fill<Value>(phrase: string, value: (name: string) => Value): (string | Value)[] {
  return phrase.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : value(part)));
}

function asMarkup(value: HtmlValue): HtmlValue {
  return value instanceof Html ? value : html`<bdi>${value}</bdi>`;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** A title has no markup: there the characters of Unicode do what bdi does (UAX #9 §2.4). */
function isolate(value: string): string {
  return RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
}
