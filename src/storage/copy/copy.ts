import { randomUUID } from 'node:crypto';
import type { LoadedConfig } from '../../config/load.ts';
import { INDEX_KEY, unfinishedCopy } from '../index-key.ts';
import { type Secrets, sealedStore } from '../seal.ts';
import { secretsBeside } from '../sqlite/secret.ts';
import { type Entry, unixSeconds } from '../store.ts';
import { again, type CopyProgress, charged, fieldsOf, pagesOf, type Sum, sameOf, sumsOf, write } from './entries.ts';
import { type CopySide, openSide } from './side.ts';

/** Seconds that an entry must still live to be compared: by then, both stores must have been read. */
const LIFETIME = 300;

const NONE: Sum = { count: 0, digest: '' };

/** What both stores hold of one kind. */
interface CopiedKind {
  readonly kind: string;
  readonly from: Sum;
  readonly to: Sum;
}

/** The outcome of a copy. Unless it is `whole`, no gate opens the target, and the copy can be continued. */
export interface CopyReport {
  readonly whole: boolean;
  readonly kinds: readonly CopiedKind[];
}

/**
 * Copies all unexpired entries, sealed as they are, to the store of another configuration with the same secrets. Throws
 * GatewayError if a store cannot be used, and Error if nothing may be copied.
 */
export async function copyStore(
  source: LoadedConfig,
  target: LoadedConfig,
  progress: CopyProgress,
): Promise<CopyReport> {
  const from = openSide(source, true);
  try {
    await from.check();
    const secrets = secretsOf(source);
    if (!secrets.every((secret) => [target.secret, ...target.furtherSecrets].includes(secret)))
      throw new Error(OTHER_SECRET);
    const key = await from.get(INDEX_KEY.kind, INDEX_KEY.id);
    if (key === undefined) throw new Error('There is nothing to copy: no gate has used this store.');
    // Throws if these secrets do not open the store.
    await sealedStore(from, secrets).get(INDEX_KEY.kind, '');
    const to = openSide(target, false);
    try {
      await to.check();
      const kinds = await copyEntries(from, to, key, progress);
      return { whole: kinds.every(isSame), kinds };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

const OTHER_SECRET =
  'The target needs the same `secret` and `furtherSecrets`: entries are copied as they are sealed. A gate without `secret` has it beside its store, in a file with one in each line.';

function secretsOf({ config: { store }, secret, furtherSecrets }: LoadedConfig): Secrets {
  const [first, ...further] =
    secret === undefined && store.kind === 'sqlite' ? secretsBeside(store.path) : [secret ?? ''];
  return [first, ...further, ...furtherSecrets];
}

const keyOf = (side: CopySide) => again(() => side.get(INDEX_KEY.kind, INDEX_KEY.id));

/** The target gets the store's own key last. Until then, it holds one that opens nothing. */
async function copyEntries(from: CopySide, to: CopySide, key: Entry, progress: CopyProgress) {
  const began = Date.now();
  const unfinished = unfinishedCopy(key.payload);
  const marker = unfinished + randomUUID();
  const held = await keyOf(to);
  if (held?.payload === key.payload) throw new Error('The target is a whole copy of this store already.');
  if (held !== undefined && !held.payload.startsWith(unfinished)) {
    throw new Error('The target is neither empty nor an unfinished copy of this store: nothing was copied.');
  }
  const mark = (was: string, payload: string) => to.commit([{ op: 'replace', ...INDEX_KEY, was, payload }]);
  if (held === undefined) await to.commit([{ op: 'create', entry: { ...key, payload: marker } }]);
  else await mark(held.payload, marker);
  /** A copy that was overtaken must not write over what a gate has written since. */
  const assertHolds = async (payload: string) => {
    if ((await keyOf(to))?.payload !== payload)
      throw new Error('Another copy to this target was started, so this one ends.');
  };

  // What has changed in the source since an interruption is copied again.
  for await (const entries of held === undefined ? [] : pagesOf(to, progress('Comparing'))) {
    const wanted = await sameOf(from, entries);
    const stale = entries.filter((entry, at) => fieldsOf(entry) !== fieldsOf(wanted[at]));
    await assertHolds(marker);
    await again(() => to.commit(stale.map(({ kind, id }) => ({ op: 'delete', kind, id }))));
  }
  for await (const entries of pagesOf(from, progress('Copying'))) {
    const there = held === undefined ? [] : await sameOf(to, entries);
    const missing = entries.filter((_, at) => there[at] === undefined);
    await assertHolds(marker);
    await write(to, await charged(from, missing));
  }
  const until = unixSeconds(Date.now) + LIFETIME + (Date.now() - began) / 1000;
  const [source, target] = await Promise.all([sumsOf(from, until, progress('Verifying')), sumsOf(to, until)]);
  const kinds = [...new Set([...source.keys(), ...target.keys()])]
    .toSorted()
    .map((kind) => ({ kind, from: source.get(kind) ?? NONE, to: target.get(kind) ?? NONE }));
  if (kinds.every(isSame)) {
    await mark(marker, key.payload);
    await assertHolds(key.payload);
  }
  return kinds;
}

function isSame({ from, to }: CopiedKind): boolean {
  return from.count === to.count && from.digest === to.digest;
}
