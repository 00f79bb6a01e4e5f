import { isScalar, parseDocument } from 'yaml';
import { isObject } from '../http/json-object.ts';
import type { Layer } from './document.ts';
import { environmentAliases } from './environment-aliases.ts';
import type { Problem } from './problems.ts';
import { type Environment, type Setting, settingsTree } from './setting.ts';
import { shapeAt } from './shape.ts';
import { nearest } from './suggest.ts';
import { formatPath, merge, type Path, type Tree, valueAt } from './tree.ts';

const PREFIX = /^COURSEGATE__/i;

/**
 * Reads the settings in the environment. Names of upstreams and `kind`s are matched against the settings of the layers
 * below. An empty variable counts as unset. Each problem names its variable; values are never shown.
 *
 * `COURSEGATE__LISTEN__PORT=9000` sets `listen.port`: two underscores nest; case and single underscores are ignored.
 * Values are YAML, except that text is taken literally. A list is set as a whole, in YAML flow style. Deeper names
 * override shallower ones, and all of them override the aliases (`PORT`, `COURSEGATE_DATA` …).
 */
export function readEnvironment(environment: Environment, below: Tree): { layer: Layer; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const settings: Setting[] = [];
  for (const [variable, value] of Object.entries(environment).sort(byDepth)) {
    if (!PREFIX.test(variable) || value === undefined || value === '') continue;
    const setting = readSetting(variable, value, merge(below, settingsTree(settings)) as Tree);
    const twin = settings.find(({ path }) => 'path' in setting && path.join('\0') === setting.path.join('\0'));
    if ('message' in setting) problems.push(problem(variable, setting.message));
    else if (twin === undefined) settings.push(setting);
    else problems.push(problem(variable, `sets the same key as ${twin.variable}`, setting.path));
  }
  const client = environment.COURSEGATE_HTTP_CLIENT ?? '';
  if (client !== '' && client !== 'undici') problems.push(problem('COURSEGATE_HTTP_CLIENT', 'can only be undici'));
  const all = [...environmentAliases(environment, settings, below), ...settings];
  return { layer: environmentLayer(all), problems };
}

function byDepth([left]: [string, unknown], [right]: [string, unknown]): number {
  return left.split('__').length - right.split('__').length || (left < right ? -1 : 1);
}

function readSetting(variable: string, value: string, below: Tree): Setting | { message: string } {
  const [prefix = '', ...steps] = variable.split('__');
  const path: string[] = [];
  for (const [index, step] of steps.entries()) {
    const { keys, open, list } = shapeAt(path, below);
    const existing = valueAt(below, path);
    const key = matching(step, [...keys, ...(open && isObject(existing) ? Object.keys(existing) : [])]);
    if (key !== undefined) path.push(key);
    else if (open && step !== '') path.push(step.toLowerCase());
    else if (list) return { message: `a list is set whole: ${[prefix, ...steps.slice(0, index)].join('__')}='[…]'` };
    else {
      if (keys.length === 0) return { message: `${formatPath(path)} takes one value: nothing can be nested in it` };
      const better = nearest(step, keys.map(screaming));
      const hint = better === undefined ? '' : ` (did you mean ${[prefix, ...steps.with(index, better)].join('__')}?)`;
      return { message: `there is no key "${step}"${path.length === 0 ? '' : ` in ${formatPath(path)}`}${hint}` };
    }
  }
  const parsed = parseValue(value, shapeAt(path, below).text);
  return parsed === undefined ? { message: 'cannot be read as a YAML value' } : { variable, path, value: parsed.value };
}

/** Takes text literally, so that a name can be `Art #1` or `1234`, unless it is a quoted YAML string. */
function parseValue(value: string, text: boolean): { value: unknown } | undefined {
  const document = parseDocument(value, { prettyErrors: false, logLevel: 'silent' });
  const { contents } = document;
  if (text) {
    const quoted = isScalar(contents) && document.errors.length === 0 && /^QUOTE_/.test(contents.type ?? '');
    return { value: quoted ? contents.value : value };
  }
  if (document.errors.length > 0) return undefined;
  try {
    return { value: document.toJS() };
  } catch {
    return undefined;
  }
}

/** Tries an exact match (ignoring case) first, since two upstreams may differ only in an underscore. */
function matching(step: string, keys: readonly string[]): string | undefined {
  const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return (
    keys.find((key) => key.toLowerCase() === step.toLowerCase()) ??
    keys.find((key) => bare(key) !== '' && bare(key) === bare(step))
  );
}

function screaming(key: string): string {
  return key.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
}

function environmentLayer(settings: readonly Setting[]): Layer {
  const covers = (outer: Path, inner: Path) => outer.every((step, index) => inner[index] === step);
  return {
    tree: settingsTree(settings),
    place: (path) => {
      const setting =
        settings.findLast((one) => covers(one.path, path)) ?? settings.find((one) => covers(path, one.path));
      return place(setting?.variable ?? '');
    },
  };
}

function place(variable: string): { file: string; line: number; column: number } {
  return { file: `environment variable ${variable}`, line: 0, column: 0 };
}

function problem(variable: string, message: string, path: Path = []): Problem {
  return { ...place(variable), path: formatPath(path), message };
}
