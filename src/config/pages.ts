import { z } from 'zod';
import { contrast, READABLE, readableOn } from './colour.ts';

/** The languages that the pages have a catalogue for. */
export const PAGE_LANGUAGES = ['en', 'es'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/** Text a member reads: one for everybody, or one for each language. */
const titles = z
  .strictObject({
    en: z.string().min(1).meta({ description: 'In English.' }),
    es: z.string().min(1).meta({ description: 'In Spanish.' }),
  } satisfies Record<PageLanguage, z.ZodString>)
  .partial()
  .refine((given) => Object.values(given).some((text) => text !== undefined), 'must hold a text in one language');

export const translatable = z.union(
  [z.string().min(1), titles],
  `must be text, or texts by language: { ${PAGE_LANGUAGES.map((language) => `${language}: …`).join(', ')} }`,
);
export type Translatable = z.output<typeof translatable>;

const colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, { message: 'must be a colour such as "#0b57d0", in quotes', abort: true })
  .superRefine((given, context) => {
    const ratio = contrast(given, '#ffffff');
    if (ratio >= READABLE) return;
    // Rounded down: a ratio of 4.496 must not read as enough.
    const shown = (Math.floor(ratio * 10) / 10).toFixed(1);
    const message = `cannot be read on white: its contrast is ${shown}:1, and ${READABLE}:1 is needed (try "${readableOn(given, '#ffffff')}")`;
    context.addIssue({ code: 'custom', message });
  });

const support = z.string().refine(isContact, 'must be mailto:somebody@school.example or an https URL');

function isContact(text: string): boolean {
  if (text.startsWith('mailto:')) return /^mailto:[^\s@?,;:/]+@[^\s@?,;:/]+$/.test(text);
  return isHttpsUrl(text);
}

const timeZone = z.string().refine(isTimeZone, 'must be an IANA time zone such as Europe/Madrid');

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
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

/** The page on which members see, and cut off, the apps they have let in. */
const apps = z.strictObject({
  enabled: z.boolean().default(true).meta({
    description: 'Off, there is no such page, and nothing is counted of what apps read.',
  }),
  back: wayBack.optional().meta({
    description: 'Where its link back to the school leads: a path, or an https URL. Left out, there is none.',
  }),
});

/** How the gate's own pages look, and in which languages they speak. */
export const pages = z.strictObject({
  logo: z
    .strictObject({ file: z.string().min(1).meta({ description: 'Where it is, as a path beside this file.' }) })
    .optional()
    .meta({ description: 'An SVG or PNG file of at most 64 KiB, shown beside the name.' }),
  colour: colour.default('#0b57d0').meta({
    description: 'Of links and buttons. It must read on white; the dark scheme takes a lighter one of its own.',
  }),
  languages: z
    .array(z.enum(PAGE_LANGUAGES))
    .min(1)
    .refine((list) => new Set(list).size === list.length, 'must name each language once')
    .default([...PAGE_LANGUAGES])
    .meta({ description: 'Which are spoken; the first, when neither the app nor the browser asks for another.' }),
  timeZone: timeZone.default('UTC').meta({ description: 'Of the dates and times on them.' }),
  apps: apps.prefault({}).meta({ description: 'The page of connected apps, at /oauth/apps.' }),
  support: support.optional().meta({ description: 'Where members find help: a mailto: or https URL.' }),
});
