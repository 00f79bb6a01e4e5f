import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.ts';
import { INDEX_KEY, unfinishedCopy } from '../index-key.ts';
import { type OpenedStore, openStore } from '../open.ts';
import type { Entry } from '../store.ts';
import type { Pace } from '../sweep.ts';
import { type CopiedStore, type CopyProgress, copiedStore, type Sum, sumsOf, textOf } from './entries.ts';

/** Seconds that an entry must still live to be compared: by then, both stores must have been read. */
const LIFETIME = 300;

const NONE: Sum = { count: 0, digest: '' };

/**
 * Copies all unexpired entries, sealed as they are, to the store of another configuration with the same secrets. Returns
 * what both hold of each kind, and whether it is the same. Unless the copy is `whole`, no gate opens the target, and the
 * copy can be continued. Throws GatewayError if a store cannot be used, and Error if nothing may be copied.
 */
export async function copyStore(source: LoadedConfig, target: LoadedConfig, progress: CopyProgress, pace: Pace) {
  if (source.config.store.kind === 'sqlite' && !existsSync(source.config.store.path))
    throw new Error(`There is no store ${source.config.store.path}.`);
  return within(source, pace, async ({ raw, store, secrets }) => {
    if (!secrets.every((secret) => [target.secret, ...target.furtherSecrets].includes(secret)))
      throw new Error(OTHER_SECRET);
    const key = await raw.get(INDEX_KEY.kind, INDEX_KEY.id);
    if (key === undefined) throw new Error('There is nothing to copy: no gate has used this store.');
    // Throws if these secrets do not open the store.
    await store.get(INDEX_KEY.kind, '');
    return within(target, pace, async (opened) => {
      const kinds = await copyEntries(
        copiedStore(raw, pace.rest),
        copiedStore(opened.raw, pace.rest),
        key,
        progress,
        pace,
      );
      return { whole: kinds.every(isSame), kinds };
    });
  });
}

const OTHER_SECRET =
  'The target needs the same `secret` and `furtherSecrets`: entries are copied as they are sealed. A gate without `secret` has it beside its store, in a file with one in each line.';

/** Runs work on the store of a configuration once it can be used. */
async function within<T>(loaded: LoadedConfig, { now }: Pace, work: (opened: OpenedStore) => Promise<T>) {
  const { store } = loaded.config;
  if (store.kind === 'memory') throw new Error('A store in memory ends with its process, and cannot be copied.');
  const opened = await openStore(store, loaded, now);
  try {
    await opened.check();
    return await work(opened);
  } finally {
    opened.counters.close();
    await opened.bus.close();
    await opened.store.close();
  }
}

/** The target gets the store's own key last. Until then, it holds one that opens nothing. */
async function copyEntries(from: CopiedStore, to: CopiedStore, key: Entry, progress: CopyProgress, { now }: Pace) {
  const began = now();
  const unfinished = unfinishedCopy(key.payload);
  const marker = unfinished + randomUUID();
  const held = await to.key();
  if (held?.payload === key.payload) throw new Error('The target is a whole copy of this store already.');
  if (held !== undefined && !held.payload.startsWith(unfinished))
    throw new Error('The target is neither empty nor an unfinished copy of this store: nothing was copied.');
  const mark = (was: string, payload: string) => to.setKey({ op: 'replace', ...INDEX_KEY, was, payload });
  if (held === undefined) await to.setKey({ op: 'create', entry: { ...key, payload: marker } });
  else await mark(held.payload, marker);
  /** A copy that was overtaken must not write over what a gate has written since. */
  const assertHolds = async (payload: string) => {
    if ((await to.key())?.payload !== payload)
      throw new Error('Another copy to this target was started, so this one ends.');
  };

  // What has changed in the source since an interruption is copied again.
  for await (const entries of held === undefined ? [] : to.pages(progress('Comparing'))) {
    const wanted = await from.sameOf(entries);
    await assertHolds(marker);
    // Read by key, an entry comes without what it is charged to.
    await to.remove(entries.filter((entry, at) => textOf({ ...entry, charge: undefined }) !== textOf(wanted[at])));
  }
  for await (const entries of from.pages(progress('Copying'))) {
    const there = held === undefined ? [] : await to.sameOf(entries);
    await assertHolds(marker);
    await to.restore(entries.filter((_, at) => there[at] === undefined));
  }
  const kinds = await compared(from, to, now() - began, now, progress);
  if (kinds.every(isSame)) {
    await mark(marker, key.payload);
    await assertHolds(key.payload);
  }
  return kinds;
}

/**
 * Sums up what both hold of each kind.
 * @param took how long the copy took, in milliseconds: to compare it takes as long again at most
 */
export async function compared(
  from: Pick<CopiedStore, 'pages'>,
  to: Pick<CopiedStore, 'pages'>,
  took: number,
  now: Pace['now'],
  progress: CopyProgress,
) {
  const until = (now() + took) / 1000 + LIFETIME;
  const [source, target] = await Promise.all([sumsOf(from, until, progress('Verifying')), sumsOf(to, until)]);
  return [...new Set([...source.keys(), ...target.keys()])]
    .toSorted()
    .map((kind) => ({ kind, from: source.get(kind) ?? NONE, to: target.get(kind) ?? NONE }));
}

export function isSame({ from, to }: { readonly from: Sum; readonly to: Sum }): boolean {
  return from.count === to.count && from.digest === to.digest;
}
