import { z } from 'zod';
import { contrast, READABLE, readableOn, USUAL_COLOUR } from '../http/colour.ts';
import { text } from './name.ts';
import { origin } from './urls.ts';

/** The languages that the pages are translated into. */
export const PAGE_LANGUAGES = ['en', 'es', 'de', 'fr', 'ar'] as const;

/** A language of the pages, and the phrases of the operator's own catalogue for it. */
export interface PageLanguage {
  /** As LANGUAGE_TAG. */
  readonly tag: string;
  readonly phrases: Readonly<Record<string, string>>;
}

/** A language tag (RFC 5646) of a language, a script and a region: `pt`, `pt-BR`, `zh-Hant-TW`. */
export const LANGUAGE_TAG = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/;

/** Text that members read: the same for everyone, or one for each language. */
const titles = z
  .record(z.string().regex(LANGUAGE_TAG, 'must be a language tag such as en or pt-BR'), text)
  .refine((given) => Object.keys(given).length > 0, 'must have a text in at least one language');

export const translatable = z.union([text, titles], 'must be text, or texts by language: { en: …, pt-BR: … }');
export type Translatable = z.output<typeof translatable>;

const colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, { message: 'must be a colour such as "#0b57d0", in quotes', abort: true })
  .superRefine((given, context) => {
    const ratio = contrast(given, '#ffffff');
    if (ratio >= READABLE) return;
    // Rounded down, so that a ratio of 4.496 is not shown as 4.5.
    const shown = (Math.floor(ratio * 10) / 10).toFixed(1);
    const message = `is too light to read on white: its contrast is ${shown}:1, but ${READABLE}:1 is required (try "${readableOn(given, '#ffffff')}")`;
    context.addIssue({ code: 'custom', message });
  });

const support = z
  .string()
  .refine(isContact, 'must be a mailto: address such as mailto:help@school.example, or an https URL');

function isContact(text: string): boolean {
  if (text.startsWith('mailto:')) return /^mailto:[^\s@?,;:/]+@[^\s@?,;:/]+$/.test(text);
  return isHttpsUrl(text);
}

const wayBack = z
  .string()
  .refine(
    (text) => /^\/(?![/\\])\S*$/.test(text) || isHttpsUrl(text),
    'must be a path such as /account, or an https URL',
  );

function isHttpsUrl(text: string): boolean {
  return URL.canParse(text) && /^https:\/\/[^/\\@\s]+(?:[/?#]\S*)?$/.test(text);
}

/** A page that everyone can open. */
const document = z.string().refine(isHttpsUrl, 'must be an https URL');

/** The page on which members see and disconnect their apps. */
const apps = z.strictObject({
  back: wayBack.optional(),
});

/** Appearance and languages of coursegate's own pages. */
export const pages = z.strictObject({
  origin: origin.optional(),
  serviceWorkers: z.enum(['allow', 'refuse']).default('allow'),
  logo: text.optional(),
  colour: colour.default(USUAL_COLOUR),
  languages: z
    .array(
      z.union(
        [z.enum(PAGE_LANGUAGES), z.string().regex(/\.json$/, { abort: true })],
        `must be one of ${PAGE_LANGUAGES.join(', ')}, or the path of a catalogue such as lang/pt-BR.json`,
      ),
    )
    .min(1)
    .default([...PAGE_LANGUAGES]),
  apps: apps.prefault({}),
  support: support.optional(),
  policyUri: document.optional(),
  tosUri: document.optional(),
});

/** Where the pages for members are: at `pages.origin`, or at `origin`. */
export function pagesOrigin(config: { readonly origin: string; readonly pages: z.output<typeof pages> }): string {
  return config.pages.origin ?? config.origin;
}
