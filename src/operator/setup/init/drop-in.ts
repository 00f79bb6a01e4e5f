import { join } from 'node:path';
import { listAt, valueAt } from '../../../config/tree.ts';
import { filled } from '../../../http/template.ts';
import { documentPath, readInstalled } from '../../../installation.ts';
import { type Setup, upstreamName } from './configuration.ts';
import { dropInFiles, type NewFile, README, type SecretName, setupGuide, treeOf } from './preset.ts';
import { type DropInValues, INTEGRATIONS } from './preset-file.ts';

/** The secrets of a new setup. */
export interface SetupSecrets {
  readonly values: Readonly<Record<SecretName, string>>;
  /** Those that the gate has too. */
  readonly shared: readonly SecretName[];
}

const SETTINGS = /(\/\/ >>> settings[^\n]*\n)[\s\S]*?(\/\/ <<< settings)/;

/** The files of a framework's drop-in with its settings filled in, and its `.env`; none for a site without a drop-in. */
export function dropIn(setup: Setup, configuration: string, secrets: SetupSecrets): readonly NewFile[] {
  const { framework, preset } = setup;
  const folder = join(INTEGRATIONS, framework);
  const files = dropInFiles(framework);
  // Such a backend is used as it is.
  if (preset === undefined || files.length === 0) return [];
  const { settings, lines, secretsFor } = preset;
  const values = valuesFor(setup, configuration, secrets);
  const secret = secretsFor === undefined ? {} : ({ secret: true } as const);
  const copied = files.map((path): NewFile => {
    const text = readInstalled(join(folder, path)).toString('utf8');
    if (settings === undefined || !SETTINGS.test(text)) return { path: `drop-in/${path}`, text };
    const own = text.replace(SETTINGS, (_all, begin, end) => begin + filled(settings, values) + end);
    return { path: `drop-in/${path}`, text: own, ...secret };
  });
  if (settings !== undefined && !copied.some(({ text }) => SETTINGS.test(text)))
    throw new Error(`The drop-in for ${framework} has no settings block to fill in.`);
  return [
    ...copied,
    { path: setupGuide(framework), text: withoutLinksAway(readInstalled(join(folder, README)), framework) },
    ...(lines === undefined ? [] : [{ path: `drop-in/${lines.path}`, text: filled(lines.text, values), ...secret }]),
    ...(secrets.shared.length > 0 && secretsFor === undefined ? [environment(setup, secrets)] : []),
  ];
}

function valuesFor(setup: Setup, configuration: string, { values: secrets }: SetupSecrets): DropInValues {
  return {
    origin: setup.origin.origin,
    jwksUrl: jwksUrl(setup),
    adminUrl: `http://127.0.0.1:${setup.adminPort}`,
    adminSecret: secrets.admin,
    recheckKey: secrets.recheck,
    functions: functionsIn(configuration).join(' '),
  };
}

/** The gate's JWKS, as reached by a backend on the same machine. */
function jwksUrl({ port }: Setup): string {
  return `http://127.0.0.1:${port}/.well-known/jwks.json`;
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

/** The environment variables of the site's process. */
function environment(setup: Setup, { values: secrets, shared }: SetupSecrets): NewFile {
  const lines = [
    '# Environment variables for the site, not for coursegate.',
    `COURSEGATE_ORIGIN=${setup.origin.origin}`,
    `COURSEGATE_UPSTREAM=${upstreamName(setup.framework)}`,
    `COURSEGATE_BRIDGE_SECRET=${secrets.bridge}`,
    `COURSEGATE_JWKS_URL=${jwksUrl(setup)}`,
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
