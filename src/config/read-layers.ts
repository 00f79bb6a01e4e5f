import { dirname, join, relative, resolve } from 'node:path';
import { reason } from '../account/settings-files.ts';
import { readInstalled } from '../installation.ts';
import { readToolsFile } from '../mcp/settings-file.ts';
import { readYaml, type YamlLayer } from './document.ts';
import { readEnvironment } from './environment.ts';
import { codeLayer, extendedBy, type Layers } from './layers.ts';
import { ConfigError, type Problem, type UntracedProblem } from './problems.ts';
import { chooseProfile, profileFile, SCOPES_FILE } from './profiles.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { merge, type Tree } from './tree.ts';

/**
 * Reads the layers of a configuration.
 *
 * @param file - the operator's file as it was given, to show in problems
 * @throws {ConfigError} when the operator's file cannot be read
 */
export async function readLayers(
  { file, environment, overrides = {} }: { file: string; environment: Environment; overrides?: Tree },
  files: SourceFiles,
): Promise<{ layers: Layers; profile: string; findings: readonly UntracedProblem[]; problems: readonly Problem[] }> {
  const operator = await readSettings(file, files);
  const scopes = await readBundled(SCOPES_FILE);
  const fromEnvironment = readEnvironment(environment, merge(scopes.tree, operator.tree) as Tree);
  const wanted = merge(merge(operator.tree, fromEnvironment.layer.tree), overrides) as Tree;
  // A main file has none: what its schools have is up to them.
  const chosen = chooseProfile(wanted.schools === undefined ? wanted.profile : 'B');
  const profile = await readBundled(profileFile(chosen.profile));
  const tools = await readToolsFile(wanted, files);
  return {
    layers: {
      scopes,
      profile,
      tools: tools.layer,
      file: operator,
      environment: fromEnvironment.layer,
      overrides: codeLayer(overrides),
    },
    profile: chosen.profile,
    findings: [...chosen.findings, ...tools.findings],
    problems: [scopes, profile, operator, fromEnvironment, tools].flatMap(({ problems }) => problems),
  };
}

/**
 * The operator's file, with the one that it extends below it.
 *
 * @throws {ConfigError} when one of them cannot be read
 */
export async function readSettings(file: string, files: SourceFiles): Promise<YamlLayer> {
  const own = await readYamlFile(file, () => files.text(resolve(file)));
  const { extends: named } = own.tree;
  if (typeof named !== 'string') return own;
  // Shown beside the file itself, as its path is written there.
  const shown = join(dirname(file), named);
  const base = await readYamlFile(shown, () => files.text(named), bases);
  return extendedBy(base, own);
}

/** The last of the files that others extend, parsed: many schools extend the same one. */
const bases = new Map<string, YamlLayer>();
const MOST_BASES = 8;

async function readYamlFile(
  shown: string,
  read: () => Promise<string>,
  known?: Map<string, YamlLayer>,
): Promise<YamlLayer> {
  try {
    const text = await read();
    const key = `${shown}\0${text}`;
    const layer = known?.get(key) ?? readYaml(shown, text);
    if (known !== undefined && known.size >= MOST_BASES && !known.has(key)) known.clear();
    known?.set(key, layer);
    return layer;
  } catch (error) {
    throw new ConfigError([{ file: shown, line: 0, column: 0, path: '', message: `cannot be read: ${reason(error)}` }]);
  }
}

async function readBundled(file: string): Promise<YamlLayer> {
  return await readYamlFile(relative('.', file), async () => readInstalled(file).toString('utf8'));
}
