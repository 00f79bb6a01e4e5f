import { hash } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { Config, ToolConfig } from '../../config/schema.ts';
import { inkOn, readableOn } from '../../http/colour.ts';
import { html } from '../../http/html.ts';
import { codePath, readInstalled } from '../../installation.ts';
import { type CardTemplates, OUR_CARDS } from '../settings-cards.ts';

/** What a host shows for the result of a tool (MCP Apps, SEP-1865): a page for a frame without network. */
export interface Card {
  /** It changes with the content, because hosts keep what they have read. */
  readonly uri: string;
  readonly name: string;
  readonly html: string;
}

/** The words of cards in one language of the pages. */
export interface CardWords {
  readonly language: string;
  readonly direction: string;
  /** The locale for dates and amounts. */
  readonly locale: string;
  /** A phrase of the catalogue, by its key without `card.`. */
  readonly phraseOf: (key: string) => string;
}

export const UI_EXTENSION = 'io.modelcontextprotocol/ui';
const MEDIA_TYPE = 'text/html;profile=mcp-app';
/** Nothing is loaded from anywhere, and the card has no background of its own. */
const META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

/** The card of a tool that has none of its own, and whose calls a member approves. */
const APPROVAL_CARD = 'approval';

const DARK_PAPER = '#171717';

/** The cards by what tools name them: their template's path, or APPROVAL_CARD. */
export type Cards = ReadonlyMap<string, Card>;

/** What a tool names its card; undefined if it has none. */
export function cardOf({ card, approve }: Pick<ToolConfig, 'card' | 'approve'>): string | undefined {
  return card ?? (approve ? APPROVAL_CARD : undefined);
}

/** Builds the cards that tools name, in every language of the pages. `colour` is that of the members' pages. */
export function buildCards(
  tools: readonly ToolConfig[],
  templates: CardTemplates,
  { name: school, pages: { colour } }: Pick<Config, 'name' | 'pages'>,
  languages: readonly CardWords[],
): Cards {
  const read = (file: string) => readInstalled(codePath(`mcp/cards/${file}`)).toString('utf8');
  const spoken = (kind: string, template: string) =>
    languages.map((words) => {
      const { language, direction, locale, phraseOf } = words;
      const text = filled(template, (key) => escaped(phraseOf(key)));
      return `<template class="${kind}" lang="${language}" dir="${direction}" data-locale="${locale}">${text}</template>`;
    });
  const shared = {
    ...{ language: languages[0]?.language ?? 'en', school: escaped(school) },
    ...{ style: accents(colour) + read('card.css'), script: read('card.js') },
  };
  const approvals = spoken('approval', read('approval.html'));
  const named = new Set(tools.map(cardOf).filter((file) => file !== undefined));
  return new Map(
    [...named].map((file) => {
      const template = templates.get(file) ?? '';
      const name = basename(file, extname(file));
      // An operator's own template has their words, in a language that only they know.
      const own = template === '' ? [] : [`<template class="card">${template}</template>`];
      const all = [...(OUR_CARDS.includes(file) ? spoken('card', template) : own), ...approvals].join('\n');
      const view: Readonly<Record<string, string>> = { ...shared, name: escaped(name), templates: all };
      const text = filled(read('document.html'), (key) => view[key] ?? '');
      const uri = `ui://coursegate/${name}-${hash('sha256', text, 'hex').slice(0, 12)}.html`;
      return [file, { uri, name, html: text }];
    }),
  );
}

/** The entry of a card in the list of resources. */
export function cardResource({ uri, name }: Card) {
  return { uri, name, mimeType: MEDIA_TYPE, _meta: META };
}

/** What is read at the URI of a card; undefined if none has it. */
export function readCard(cards: Cards, uri: string) {
  for (const card of cards.values())
    if (card.uri === uri) return { contents: [{ uri, mimeType: MEDIA_TYPE, text: card.html, _meta: META }] };
  return undefined;
}

const escaped = (text: string) => html`${text}`.text;

function filled(template: string, partOf: (key: string) => string): string {
  return template.replace(/\{\{([\w.]+)\}\}/g, (_all, key: string) => partOf(key));
}

/** Readable on the host's background, of which only the theme is known. */
function accents(colour: string): string {
  const dark = readableOn(colour, DARK_PAPER);
  return `:root { --card-accent: light-dark(${colour}, ${dark}); --card-on-accent: light-dark(${inkOn(colour)}, ${inkOn(dark)}); }\n`;
}
