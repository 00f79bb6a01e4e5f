import { basename, join } from 'node:path';
import { insertAfter, keepNeeded, removeKey, replaceValue } from '../../../config/edit-yaml.ts';
import { readPlainYaml } from '../../../config/plain-yaml.ts';
import { type Path, valueAt } from '../../../config/tree.ts';
import { isObject, type JsonObject } from '../../../http/json-object.ts';
import { documentPath, installedFiles, readInstalled } from '../../../installation.ts';
import type { Framework } from '../names.ts';
import {
  apiSections,
  FIRST_LINE,
  genericConfiguration,
  listenLine,
  quoted,
  type Setup,
  siteSection,
  upstreamName,
  upstreamUrl,
} from './configuration.ts';
import { INTEGRATIONS, PRESET, type PresetFile } from './preset-file.ts';

/** A file to write. `path` is relative to the folder of the configuration. */
export interface NewFile {
  readonly path: string;
  readonly text: string;
  /** Written with mode 0600. */
  readonly secret?: true;
}

/** A configuration, and what it refers to. */
export interface Written {
  readonly configuration: string;
  /** The files of the Account API, and the skills. */
  readonly files: readonly NewFile[];
  /** The secrets for `init` to create. */
  readonly secrets: readonly SecretName[];
  /** Environment variables that the operator has to set, with the path of the setting. */
  readonly variables: readonly { readonly name: string; readonly path: Path }[];
}

export const CONFIGURATION = 'coursegate.yaml';
export const README = 'README.md';

/**
 * Files of secrets, next to the configuration. The gate and the bridge of the drop-in share the first, the site signs
 * its commands to the gate with the second, and the gate sends the third when it rechecks a member.
 */
export const SECRET_FILES = { bridge: 'bridge.secret', admin: 'admin.secret', recheck: 'recheck.key' } as const;
export type SecretName = keyof typeof SECRET_FILES;

/** The secrets by the environment variables that presets name. */
const SHARED: Readonly<Record<string, SecretName>> = {
  COURSEGATE_BRIDGE_SECRET: 'bridge',
  COURSEGATE_ADMIN_SECRET: 'admin',
  COURSEGATE_KEY: 'recheck',
};

/** Writes the configuration for a site: for a known framework, its preset with the addresses and secrets filled in. */
export function writeConfiguration(setup: Setup): Written {
  const { preset } = setup;
  if (preset === undefined)
    return { configuration: genericConfiguration(setup), files: [], secrets: ['admin'], variables: [] };
  const folder = join(INTEGRATIONS, setup.framework);
  const configured = readInstalled(join(folder, CONFIGURATION)).toString('utf8');
  const addressed = withAddresses(configured, preset, setup);
  const { text, secrets, variables } = withSecrets(withApi(addressed, setup));
  const { configuration, files } = withAccount(text, folder);
  return { configuration, files: [...files, ...skillFiles(folder)], secrets, variables };
}

/** The skills of a preset, which `mcp.skills` names. */
function skillFiles(folder: string): readonly NewFile[] {
  return installedFiles(folder)
    .filter((path) => path.startsWith(SKILLS))
    .map((path) => ({ path, text: readInstalled(join(folder, path)).toString('utf8') }));
}

function withAddresses(configured: string, preset: PresetFile, setup: Setup): string {
  const { framework, origin, found } = setup;
  const { slug } = preset;
  const name = upstreamName(framework);
  // The comment at the beginning of a preset is for its readers in `integrations/`.
  let text = configured.replace(/^(#.*\n)+/, '').replace(/# \(\d\) /g, '# ');
  text = keepNeeded(text, (feature) => found.features.has(feature));
  text = replaceValue(text, ['origin'], quoted(origin.origin));
  text = replaceValue(text, ['name'], quoted(found.title ?? origin.hostname));
  text = replaceValue(text, ['upstreams', name, 'url'], quoted(upstreamUrl(setup)));
  if (treeOf(text).listen !== undefined) text = removeKey(text, 'listen');
  text = insertAfter(text, 'name', `\n${listenLine(setup)}`);
  if (preset.loginUrl === 'found' && found.loginPath !== undefined)
    text = replaceValue(text, ['login', 'loginUrl'], quoted(found.loginPath));
  if (!setup.site) text = withPageAddresses(text, origin);
  if (slug !== undefined && found.slug !== undefined)
    text = text.replace(new RegExp(`/(${slug.after.join('|')})/${slug.replaces}/`, 'g'), `/$1/${found.slug}/`);
  const tested = /^# (?:Tested|Untested).*\n/.exec(configured)?.[0] ?? '';
  return `${FIRST_LINE}\n${tested}# The setup is described in ${setupGuide(framework)}.\n${text}`;
}

/** What is in the folder of a preset, and not for the site. */
const NOT_FOR_THE_SITE = [CONFIGURATION, PRESET, 'mapping.graphql', README];
const SKILLS = join('skills', '/');

/** The files of a framework's drop-in, relative to the folder of its preset. None for a backend that is used as it is. */
export function dropInFiles(framework: Framework): readonly string[] {
  return framework === 'generic'
    ? []
    : installedFiles(join(INTEGRATIONS, framework)).filter(
        (path) => !NOT_FOR_THE_SITE.includes(path) && !path.startsWith(SKILLS),
      );
}

/** Where the operator finds how a framework is set up: beside the drop-in, or else in the installation. */
export function setupGuide(framework: Framework): string {
  return dropInFiles(framework).length > 0 ? `drop-in/${README}` : documentPath(`integrations/${framework}/${README}`);
}

/** Pages of the site by their whole address: the gate does not serve them. */
function withPageAddresses(text: string, origin: URL): string {
  return ['loginUrl', 'url'].reduce((all, key) => {
    const path = valueAt(treeOf(all), ['login', key]);
    return typeof path === 'string' ? replaceValue(all, ['login', key], quoted(new URL(path, origin).href)) : all;
  }, text);
}

/** A preset without an Account API and tools has only examples of routes: those of the site take their place. */
function withApi(preset: string, setup: Setup): string {
  const tree = treeOf(preset);
  let text = preset;
  if (tree.account === undefined && tree.anonymous === undefined)
    text = insertAfter(text, 'profile', 'anonymous: refuse    # requests without a token are refused');
  const isExample = tree.account === undefined && tree.mcp === undefined;
  if (isExample) text = removeKey(text, 'routes');
  if (tree.site !== undefined) text = removeKey(text, 'site');
  return [text.trimEnd(), siteSection(setup), ...(isExample ? [apiSections(setup)] : [])].join('\n\n').concat('\n');
}

function withSecrets(preset: string) {
  const secrets: SecretName[] = [];
  const variables: { name: string; path: Path }[] = [];
  let text = preset;
  for (const { name, path } of variablesIn(treeOf(preset), [])) {
    const secret = Object.hasOwn(SHARED, name) ? SHARED[name] : undefined;
    if (secret === undefined) variables.push({ name, path });
    else {
      secrets.push(secret);
      text = replaceValue(text, path, `{ file: ${SECRET_FILES[secret]} }`);
    }
  }
  return { text, secrets: [...new Set(secrets)], variables };
}

function variablesIn(value: unknown, path: Path): readonly { name: string; path: Path }[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => variablesIn(item, [...path, index]));
  if (!isObject(value)) return [];
  const keys = Object.keys(value);
  if (keys.length === 1 && typeof value.env === 'string') return [{ name: value.env, path }];
  return keys.flatMap((key) => variablesIn(value[key], [...path, key]));
}

/** Copies the files of the Account API next to the configuration. */
function withAccount(preset: string, folder: string): Pick<Written, 'configuration' | 'files'> {
  let configuration = preset;
  const files: NewFile[] = [];
  for (const key of ['schema', 'mappings']) {
    const path = ['account', key];
    const named = valueAt(treeOf(configuration), path);
    if (typeof named !== 'string') continue;
    configuration = replaceValue(configuration, path, basename(named));
    files.push({ path: basename(named), text: readInstalled(join(folder, named)).toString('utf8') });
  }
  return { configuration, files };
}

/** A configuration as data. */
export function treeOf(text: string): JsonObject {
  const tree = readPlainYaml(text);
  if (!isObject(tree)) throw new Error('A configuration must be a map.');
  return tree;
}
