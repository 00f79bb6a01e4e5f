import { changedKeys, restartFindings } from '../config/changes.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { checkInstalled } from '../login/open-login.ts';
import type { Generations } from './generations.ts';
import type { Listeners } from './listeners.ts';

/** Result of a reload. */
export type Reload =
  /** `keys`: the configuration keys that changed; empty if none did. */
  { readonly kind: 'taken'; readonly keys: readonly string[] } | { readonly kind: 'refused'; readonly why: Error };

export interface ReloadParts {
  readonly foundation: Pick<Foundation, 'reloads' | 'fingerprint' | 'log'>;
  readonly generations: Generations;
  readonly listeners: Pick<Listeners, 'renewTls'>;
  /** Whether the gate is shutting down; no configuration is applied then. */
  readonly draining: () => boolean;
}

/**
 * Creates the function that loads a configuration and replaces the current one, completely or not at all. Reloads run
 * one at a time and are reported to the log, the audit and the metrics. Never rejects.
 */
export function createReload(parts: ReloadParts): (load: () => Promise<LoadedConfig>) => Promise<Reload> {
  const { foundation, generations, listeners, draining } = parts;
  const { reloads, fingerprint, log } = foundation;

  const take = async (load: () => Promise<LoadedConfig>): Promise<readonly string[]> => {
    const began = performance.now();
    const { loaded: before } = generations.current();
    const loaded = await load();
    const restart = restartFindings(before, loaded);
    if (restart.length > 0) throw loaded.mistaken(restart);
    const keys = changedKeys(before, loaded);
    if (keys.length > 0) {
      await checkInstalled(loaded);
      await generations.begin(loaded, () => {
        if (draining()) throw new Error('the gate is shutting down');
        const { mtls } = loaded.admin;
        if (mtls !== undefined) listeners.renewTls(mtls);
      });
      if (keys.includes('log.level')) log.level = loaded.config.log.level;
    }
    reloads.taken(keys, fingerprint(loaded), performance.now() - began);
    return keys;
  };

  return reloadsOneByOne(take, reloads);
}

/** Runs reloads one at a time, and reports those that are refused. */
export function reloadsOneByOne(
  take: (load: () => Promise<LoadedConfig>) => Promise<readonly string[]>,
  reloads: Pick<Foundation['reloads'], 'refused'>,
): (load: () => Promise<LoadedConfig>) => Promise<Reload> {
  let last: Promise<unknown> = Promise.resolve();
  return (load) => {
    const done = last.then(async (): Promise<Reload> => {
      try {
        return { kind: 'taken', keys: await take(load) };
      } catch (thrown) {
        const why = thrown instanceof Error ? thrown : new Error(String(thrown));
        reloads.refused(why);
        return { kind: 'refused', why };
      }
    });
    last = done;
    return done;
  };
}
