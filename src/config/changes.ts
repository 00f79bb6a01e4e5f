import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../http/json-object.ts';
import type { LoadedConfig } from './load.ts';
import type { UntracedProblem } from './problems.ts';
import { formatPath, type Path } from './tree.ts';

/**
 * The keys that differ between two loaded configurations, never their values. For a changed file or variable it is the
 * key that names it; for a list whose length changed it is the list.
 */
export function changedKeys(before: LoadedConfig, after: LoadedConfig): readonly string[] {
  return [...new Set([...settingsChanged(before, after).map(formatPath), ...changedFiles(before, after)])];
}

/** Settings that are fixed for the lifetime of the process. */
const AT_START: readonly Path[] = [
  ['profile'],
  ['origin'],
  ['store'],
  ['secret'],
  ['furtherSecrets'],
  ['listen'],
  ['limits', 'headers'],
];
/** Keys of secrets that the store is opened with. */
const STORE_SECRET = /^(secret$|furtherSecrets|store\.)/;
/** The exception below them that can change at run time. */
const ANY_TIME: Path = ['listen', 'drain'];

/** A finding for each changed key that only a restart can apply. */
export function restartFindings(before: LoadedConfig, after: LoadedConfig): readonly UntracedProblem[] {
  const settings = settingsChanged(before, after).filter(
    (path) => AT_START.some((start) => begins(path, start)) && !begins(path, ANY_TIME),
  );
  const speaksTls = (loaded: LoadedConfig) => loaded.admin.mtls !== undefined;
  const all = [
    ...settings,
    ...changedFiles(before, after)
      .filter((key) => STORE_SECRET.test(key))
      .map((key) => key.replace(/\[\d+\]$/, '').split('.')),
    ...(speaksTls(before) === speaksTls(after) ? [] : [['admin', 'mtls']]),
  ];
  const message = 'cannot be changed while the gate is running: restart it, or restore the previous value';
  return all.map((path) => ({ path, at: 'key', message }));
}

function begins(path: Path, start: Path): boolean {
  return start.every((step, at) => path[at] === step);
}

function settingsChanged(before: LoadedConfig, after: LoadedConfig): readonly Path[] {
  const profile = before.profile === after.profile ? [] : [['profile']];
  return [...profile, ...differences(before.config, after.config, [])];
}

function differences(before: unknown, after: unknown, path: Path): readonly Path[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [path];
    return before.flatMap((one, at) => differences(one, after[at], [...path, at]));
  }
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(before[name], after[name], [...path, name]));
  }
  return isDeepStrictEqual(before, after) ? [] : [path];
}

/** The keys that name a file or variable with another value now. */
function changedFiles(before: LoadedConfig, after: LoadedConfig): readonly string[] {
  const [then, now] = [new Map(readFor(before)), new Map(readFor(after))];
  return [...new Set([...then.keys(), ...now.keys()])].filter((key) => !isDeepStrictEqual(then.get(key), now.get(key)));
}

function* readFor({ secrets, ...loaded }: LoadedConfig): Generator<readonly [string, unknown]> {
  yield* secrets;
  yield ['login.file', loaded.members];
  yield ['pages.logo', loaded.logo];
  yield ['pages.languages', loaded.languages];
  for (const [name, document] of loaded.upstreamDocuments) yield [`upstreams.${name}.openapi`, document];
  yield ['account.schema', loaded.accountFiles?.schema];
  yield ['account.mappings', loaded.accountFiles?.mappings];
  yield ['account.documents', loaded.accountFiles?.documents];
  for (const { upstream, text } of loaded.accountFiles?.recorded ?? []) {
    yield [`account.upstreamSchemas.${upstream}`, text];
  }
}
