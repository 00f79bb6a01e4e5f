import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { diff, isDeepStrictEqual } from 'node:util';
import { readYaml } from '../../../config/document.ts';
import { removeKey, replaceItems, replaceValue } from '../../../config/edit-yaml.ts';
import { ConfigError, type LoadedConfig } from '../../../config/load.ts';
import { formatProblem } from '../../../config/problems.ts';
import { listAt } from '../../../config/tree.ts';
import { isObject } from '../../../http/json-object.ts';
import type { Observer } from '../../../operations/observe/observer.ts';
import { routeYaml } from '../../../operations/observe/report.ts';
import type { RouteMap } from '../../../operations/observe/route-map.ts';
import { replaceFile, whyNotWritable } from './config-file.ts';

/** The configuration that is in force, and how another one is checked. */
export interface Configuration {
  readonly loaded: LoadedConfig;
  /**
   * Loads and checks another text of the operator's file, as `check` and a reload do. Throws ConfigError with every
   * mistake.
   */
  readonly check: (text: string) => Promise<{ readonly next: LoadedConfig; readonly warnings: readonly string[] }>;
}

/** What would be written to the configuration file. */
export interface Draft {
  readonly id: string;
  /** What each route matches. */
  readonly routes: readonly string[];
  /** Whether the gate would enforce its routes from then on. */
  readonly enforces: boolean;
  readonly text: string;
  /** Of the file that it was made from. */
  readonly before: string;
  readonly changes: readonly ChangedLines[];
  readonly warnings: readonly string[];
}

/** Lines that follow each other. */
export interface ChangedLines {
  readonly kind: 'removed' | 'added' | 'kept';
  readonly lines: string[];
}

/** Why nothing is written, for the operator. */
export interface NotWritten {
  readonly refused: string;
  /** The mistakes in the result, each with its place. */
  readonly problems?: readonly string[];
}

/** Drafts that were shown and can be accepted: pages that operators have open. */
const MOST_DRAFTS = 8;
const OUT_OF_DATE =
  'This page is out of date: the gate has loaded its configuration again, or other changes were prepared since.';

export type RouteProposals = ReturnType<typeof createProposals>;

/** Writes the routes that observe mode proposes into the configuration file. */
export function createProposals(configuration: Configuration, observer: Pick<Observer, 'report'>) {
  const { loaded } = configuration;
  const { file } = loaded;
  const drafts = new Map<string, Draft>();
  const cannotWrite = async (): Promise<NotWritten | undefined> => {
    const why = await whyNotWritable(file);
    return why === undefined ? undefined : { refused: `${file} cannot be written: ${why}.` };
  };

  return {
    /** Prepares what would be written, and checks it. `accept` writes it. */
    async draft(enforces: boolean): Promise<Draft | NotWritten> {
      const obstacle = await cannotWrite();
      if (obstacle !== undefined) return obstacle;
      if (!(await loaded.sources.areUnchanged()))
        return {
          refused: `${file}, or a file that it names, has changes that are not in force. See the log, then try again.`,
        };
      const before = await readFile(file, 'utf8');
      const proposed = observer.report().routes;
      const text = edited(before, proposed, enforces, loaded);
      if (text === undefined)
        return { refused: `${file} is written in a form that cannot be changed here. Copy the proposal instead.` };
      if (text === before) return { refused: `${file} has these routes already.` };
      const routes = proposed.map(({ route }) => route.match);
      const checked = await checkResult(configuration, { text, routes, enforces });
      if ('refused' in checked) return checked;
      const id = randomBytes(12).toString('base64url');
      const draft = { id, routes, enforces, text, before, changes: changesOf(before, text), ...checked };
      drafts.set(id, draft);
      for (const oldest of [...drafts.keys()].slice(0, -MOST_DRAFTS)) drafts.delete(oldest);
      return draft;
    },

    /** Writes a draft that was shown. The gate then loads it like any change of the file. */
    async accept(id: string): Promise<Draft | NotWritten> {
      const draft = drafts.get(id);
      if (draft === undefined) return { refused: OUT_OF_DATE };
      const { text, before } = draft;
      const obstacle = await cannotWrite();
      if (obstacle !== undefined) return obstacle;
      if ((await readFile(file, 'utf8')) !== before)
        return { refused: `${file} has been changed since this page was shown. Look at the difference again.` };
      const checked = await checkResult(configuration, draft);
      if ('refused' in checked) return checked;
      const failed = await replaceFile(file, text, before);
      if (failed !== undefined) return { refused: `${file} could not be written: ${failed}.` };
      drafts.delete(id);
      return draft;
    },
  };
}

/** The file with the proposed routes; undefined if it is written in a form that cannot be changed. */
function edited(
  text: string,
  routes: RouteMap['routes'],
  enforces: boolean,
  { config, file }: LoadedConfig,
): string | undefined {
  const written = listAt(readYaml(file, text).tree, ['routes']);
  const matches = written.map((route) => (isObject(route) ? route.match : ''));
  const items = routes.map(({ route, configured, evidence }) => {
    const at = matches.indexOf(configured?.match);
    return at >= 0 && route === configured ? { at } : { at, value: `${routeYaml(route)} # ${evidence}` };
  });
  try {
    const replaced = replaceItems(text, 'routes', items);
    if (!enforces) return replaced;
    if (config.enforcement.cookies.length === 0) return removeKey(replaced, 'enforcement');
    return replaceValue(replaced, ['enforcement', 'mode'], 'enforce');
  } catch {
    return undefined;
  }
}

/** Whether the result is valid, and means what was shown. */
async function checkResult(
  { check }: Configuration,
  { text, routes, enforces }: Pick<Draft, 'text' | 'routes' | 'enforces'>,
): Promise<{ readonly warnings: readonly string[] } | NotWritten> {
  try {
    const { next, warnings } = await check(text);
    const { config } = next;
    const matches = config.routes.map(({ match }) => match);
    if (!isDeepStrictEqual(matches, routes))
      return { refused: 'The routes are not decided by this file: an environment variable or a profile overrides it.' };
    if (enforces && config.enforcement.mode === 'observe')
      return { refused: 'Observe mode is not decided by this file: an environment variable overrides it.' };
    return { warnings };
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    const problems = thrown.problems.map((problem) => formatProblem(problem));
    return { refused: 'The result would not be a valid configuration.', problems };
  }
}

function changesOf(before: string, after: string): readonly ChangedLines[] {
  const changes: ChangedLines[] = [];
  for (const [operation, line] of diff(before.split('\n'), after.split('\n'))) {
    const kind = operation === 0 ? 'kept' : operation === 1 ? 'removed' : 'added';
    const last = changes.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else changes.push({ kind, lines: [line] });
  }
  return changes;
}
