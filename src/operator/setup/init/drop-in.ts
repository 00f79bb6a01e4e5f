import { join } from 'node:path';
import { listAt, valueAt } from '../../../config/tree.ts';
import { documentPath, readInstalled } from '../../../installation.ts';
import type { Framework } from '../names.ts';
import { filledText } from '../text-template.ts';
import { upstreamName } from './configuration.ts';
import { dropInFiles, type NewFile, README, type SecretName, setupGuide, treeOf } from './preset.ts';
import { type DropInValues, INTEGRATIONS, type PresetFile } from './preset-file.ts';

export interface DropInOptions {
  readonly framework: Framework;
  /** Undefined for a framework that is not known. */
  readonly preset: PresetFile | undefined;
  readonly origin: URL;
  readonly secrets: Readonly<Record<SecretName, string>>;
  /** Those of the secrets that the gate has too. */
  readonly shared: readonly SecretName[];
  /** The gate's JWKS, as reached by a backend on the same machine. */
  readonly jwksUrl: string;
  /** The admin listener, to which the site sends its commands. */
  readonly adminUrl: string;
  /** The text of the configuration. */
  readonly configuration: string;
}

const SETTINGS = /(\/\/ >>> settings[^\n]*\n)[\s\S]*?(\/\/ <<< settings)/;

/** The files of a framework's drop-in with its settings filled in, and its `.env`; none for a site without a drop-in. */
export function dropIn(options: DropInOptions): readonly NewFile[] {
  const { framework, preset } = options;
  const folder = join(INTEGRATIONS, framework);
  const files = dropInFiles(framework);
  // Such a backend is used as it is.
  if (preset === undefined || files.length === 0) return [];
  const { settings, lines, secretsFor } = preset;
  const values = valuesFor(options);
  const secret = secretsFor === undefined ? {} : ({ secret: true } as const);
  const copied = files.map((path): NewFile => {
    const text = readInstalled(join(folder, path)).toString('utf8');
    if (settings === undefined || !SETTINGS.test(text)) return { path: `drop-in/${path}`, text };
    return { path: `drop-in/${path}`, text: withSettings(text, filledText(settings, values)), ...secret };
  });
  if (settings !== undefined && !copied.some(({ text }) => SETTINGS.test(text)))
    throw new Error(`The drop-in for ${framework} has no settings block to fill in.`);
  return [
    ...copied,
    { path: setupGuide(framework), text: withoutLinksAway(readInstalled(join(folder, README)), framework) },
    ...(lines === undefined
      ? []
      : [{ path: `drop-in/${lines.path}`, text: filledText(lines.text, values), ...secret }]),
    ...(options.shared.length > 0 && secretsFor === undefined ? [environment(options)] : []),
  ];
}

function valuesFor({ origin, jwksUrl, adminUrl, secrets, configuration }: DropInOptions): DropInValues {
  return {
    origin: origin.origin,
    jwksUrl,
    adminUrl,
    adminSecret: secrets.admin,
    recheckKey: secrets.recheck,
    functions: functionsIn(configuration).join(' '),
  };
}

/** A guide, with the documents that it links to by their paths in the installation. */
function withoutLinksAway(guide: Buffer, framework: string): string {
  return guide
    .toString('utf8')
    .replace(
      /\]\((?!https?:|#)([^)#]+)/g,
      (_all, path: string) => `](${documentPath(join('integrations', framework, path))}`,
    );
}

function withSettings(text: string, settings: string): string {
  return text.replace(SETTINGS, (_all, begin: string, end: string) => begin + settings + end);
}

/** The environment variables of the site's process. */
function environment({ framework, origin, secrets, shared, jwksUrl }: DropInOptions): NewFile {
  const lines = [
    '# Environment variables for the site, not for coursegate.',
    `COURSEGATE_ORIGIN=${origin.origin}`,
    `COURSEGATE_UPSTREAM=${upstreamName(framework)}`,
    `COURSEGATE_BRIDGE_SECRET=${secrets.bridge}`,
    `COURSEGATE_JWKS_URL=${jwksUrl}`,
    ...(shared.includes('admin') ? [`COURSEGATE_ADMIN_SECRET=${secrets.admin}`] : []),
    ...(shared.includes('recheck') ? [`COURSEGATE_KEY=${secrets.recheck}`] : []),
  ];
  return { path: '.env', text: `${lines.join('\n')}\n`, secret: true };
}

/** The functions of Moodle's web services that the tools call. */
function functionsIn(configuration: string): readonly string[] {
  const called = listAt(treeOf(configuration), ['mcp', 'tools']).map((tool) =>
    valueAt(tool, ['get', 'query', 'function']),
  );
  return [...new Set(called.filter((name): name is string => typeof name === 'string'))];
}
