import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from './load.ts';
import type { Finding } from './problems.ts';
import { formatPath, isTree, type Path } from './tree.ts';

/**
 * The keys that differ between two loaded configurations, never their values. For a changed file or variable it is the
 * key that names it; for a list whose length changed it is the list.
 */
export function changedKeys(before: LoadedConfig, after: LoadedConfig): readonly string[] {
  const keys = [...settingsChanged(before, after), ...changed(readAtStart(before), readAtStart(after))].map(formatPath);
  return [...new Set([...keys, ...changed(readFor(before), readFor(after))])];
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
/** The exceptions below them that can change at run time. */
const ANY_TIME: readonly Path[] = [
  ['listen', 'drain'],
  ['listen', 'forwardingField'],
];

/** A finding for each changed key that only a restart can apply. */
export function restartFindings(before: LoadedConfig, after: LoadedConfig): readonly Finding[] {
  const settings = settingsChanged(before, after).filter(
    (path) => AT_START.some((start) => begins(path, start)) && !ANY_TIME.some((any) => begins(path, any)),
  );
  const speaksTls = (loaded: LoadedConfig) => loaded.admin.mtls !== undefined;
  const all = [
    ...settings,
    ...changed(readAtStart(before), readAtStart(after)),
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
  if (isTree(before) && isTree(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(before[name], after[name], [...path, name]));
  }
  return isDeepStrictEqual(before, after) ? [] : [path];
}

/** Values that were read from files and variables, by the key that names them. */
type Read<Key> = Iterable<readonly [Key, unknown]>;

function changed<Key>(before: Read<Key>, after: Read<Key>): readonly Key[] {
  const byName = (read: Read<Key>) => new Map([...read].map(([key, value]) => [JSON.stringify(key), { key, value }]));
  const [then, now] = [byName(before), byName(after)];
  return [...new Map([...then, ...now])]
    .filter(([name]) => !isDeepStrictEqual(then.get(name)?.value, now.get(name)?.value))
    .map(([, { key }]) => key);
}

function* readAtStart({ secret, furtherSecrets, redis }: LoadedConfig): Generator<readonly [Path, unknown]> {
  yield [['secret'], secret];
  yield [['furtherSecrets'], furtherSecrets];
  for (const name of ['url', 'password', 'sentinelPassword'] as const) yield [['store', name], redis?.[name]];
  for (const [name, text] of Object.entries(redis?.tls ?? {})) yield [['store', 'tls', name], text];
}

function* readFor(loaded: LoadedConfig): Generator<readonly [string, unknown]> {
  const { admin, accountFiles, accountConfig } = loaded;
  yield ['events.secret', loaded.eventKeys];
  yield* loaded.loginSecrets;
  yield* loaded.upstreamSecrets;
  for (const [name, value] of loaded.resourceServers) yield [`clients.resourceServers.${name}.secret`, value];
  yield ['login.file', loaded.members];
  yield ['login.recheck.key', loaded.recheckKey];
  yield ['clients.registration.initialAccessToken', loaded.initialAccessToken];
  yield ['admin.hmac', admin.hmac];
  for (const [name, text] of Object.entries(admin.mtls ?? {})) yield [`admin.mtls.${name}`, text];
  yield ['pages.logo', loaded.logo];
  for (const [name, document] of loaded.upstreamDocuments) yield [`upstreams.${name}.openapi`, document];
  yield ['account.schema', accountFiles?.schema];
  yield ['account.mappings', accountFiles?.mappings];
  yield ['account.documents', accountFiles?.documents];
  for (const { upstream, text } of accountFiles?.recorded ?? []) yield [`account.upstreamSchemas.${upstream}`, text];
  for (const [name, value] of Object.entries(accountConfig.secret)) yield [`account.config.${name}`, value];
}
