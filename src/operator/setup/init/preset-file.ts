import { join } from 'node:path';
import { z } from 'zod';
import { readPlainYaml } from '../../../config/plain-yaml.ts';
import { installedFiles, installedPath, readInstalled } from '../../../installation.ts';
import { evidence, sitePath, word } from './evidence.ts';

/** The folders of the presets and drop-ins. */
export const INTEGRATIONS = installedPath('integrations');
export const PRESET = 'preset.yaml';

/** What `{{name}}` can stand for in the text of a drop-in. None of it needs escaping in quotes in any language. */
const VALUES = ['origin', 'jwksUrl', 'adminUrl', 'adminSecret', 'recheckKey', 'functions'] as const;
export type DropInValues = Readonly<Record<(typeof VALUES)[number], string>>;

const SECRETS = /\{\{(adminSecret|recheckKey)\}\}/;

const template = z
  .string()
  .max(5000)
  .refine((text) => [...text.matchAll(/\{\{(.*?)\}\}/g)].every(([, name]) => VALUES.some((one) => one === name)), {
    message: `may have only {{${VALUES.join('}}, {{')}}}`,
  });

const presetFile = z
  .strictObject({
    /** These two are for the table in integrations/README.md. */
    worksWith: word,
    dependencies: word,
    /** By what the framework is recognised: how strong that is, and how it is printed. */
    marks: z
      .array(z.strictObject({ weight: z.int().min(1).max(4), says: word, seen: evidence }))
      .min(1)
      .max(20),
    /** By default, the cookies whose names look like it. */
    sessionCookies: z.array(word).max(5).optional(),
    /** Whether the site's name is in the heading of its front page, rather than in the title. */
    nameInHeading: z.boolean().default(false),
    /** Sets `login.loginUrl` to the login page that was found. */
    loginUrl: z.literal('found').optional(),
    /** Where the site lists what `# needs` in coursegate.yaml can name. */
    features: z.strictObject({ json: sitePath, member: word }).optional(),
    /** A name in the addresses of the site, which takes the place of another one after certain segments of a path. */
    slug: z
      .strictObject({
        json: sitePath,
        member: word,
        replaces: z.string().regex(/^\w+$/),
        after: z.array(z.string().regex(/^\w+$/)),
      })
      .optional(),
    /** Who may read the drop-in, if secrets are written into it. By default, they are for the environment of the site. */
    secretsFor: word.optional(),
    /** Takes the place of what is between `>>> settings` and `<<< settings` in the drop-in. */
    settings: template.optional(),
    /** What is left to add to the site's own code or configuration. */
    lines: z.strictObject({ path: z.string().regex(/^\w[\w-]*([./]\w[\w-]*)*$/), text: template }).optional(),
  })
  .refine(({ settings = '', lines, secretsFor }) => secretsFor !== undefined || !SECRETS.test(settings + lines?.text), {
    path: ['secretsFor'],
    message: 'is required, because the drop-in contains secrets',
  });
export type PresetFile = z.output<typeof presetFile>;

/** The folders that have a preset, by name. */
export const PRESETS: readonly string[] = installedFiles(INTEGRATIONS).flatMap((path) => {
  const [folder = '', file] = path.split('/');
  return file === PRESET ? [folder] : [];
});

/** Throws Error, with the path, for a file that is not right. */
export function readPreset(name: string, integrations = INTEGRATIONS): PresetFile {
  const path = join(integrations, name, PRESET);
  const parsed = presetFile.safeParse(readPlainYaml(readInstalled(path).toString('utf8')));
  if (parsed.success) return parsed.data;
  throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
}
