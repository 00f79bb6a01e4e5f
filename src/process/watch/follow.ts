import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadedConfig, loadConfig, sourceFilesOf } from '../../config/load.ts';
import type { Environment } from '../../config/setting.ts';
import type { Log } from '../../operations/log.ts';
import type { FurtherSources } from '../served.ts';
import { placesOf } from './places.ts';
import { createWatcher } from './watcher.ts';

export interface FollowOptions {
  /** The path as given by the operator. */
  readonly file: string;
  readonly environment: Environment;
  /** The configuration that the gate started with. */
  readonly loaded: LoadedConfig;
  /** Applies a configuration or refuses it. Never rejects. */
  readonly reload: (load: () => Promise<LoadedConfig>) => Promise<{ readonly kind: 'taken' | 'refused' }>;
  /** Files beside those of the configuration, such as those of the schools. */
  readonly further?: FurtherSources | undefined;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds without further changes before a change is read. */
  readonly quiet?: number;
}

const QUIET = 500;
/** How often the files are read when they keep changing during the reading. */
const MOST_READ = 10;

/**
 * Watches the configuration file and all files that it names, and reloads after a change. Files are read once no more
 * changes have come for a while, and again if they changed during the reading, so that no mix of old and new is
 * applied. A refused configuration is retried at the next change.
 */
export function followConfig(options: FollowOptions) {
  const { file, environment, reload, further, log, quiet = QUIET } = options;
  let serving = options.loaded;
  /** The files read last, valid or not. */
  let latest = serving.sources;
  let closed = false;

  const load = async (): Promise<LoadedConfig> => {
    for (let times = 1; ; times += 1) {
      latest = sourceFilesOf(file);
      const [read] = await Promise.allSettled([loadConfig({ file, environment, sources: latest })]);
      if ((await latest.areUnchanged()) || times === MOST_READ) {
        if (read.status === 'rejected') throw read.reason;
        return read.value;
      }
      await sleep(quiet, undefined, { ref: false });
    }
  };
  const read = async (): Promise<void> => {
    let loaded = serving;
    const { kind } = await reload(async () => {
      loaded = await load();
      return loaded;
    });
    if (kind === 'taken') serving = loaded;
  };
  const watch = async (): Promise<void> => {
    // Watch the files of both: an invalid configuration may name fewer files than it needs.
    const own = [...serving.sources.asked(), ...latest.asked()];
    const asked = serving.config.reload.watch ? [...own, ...((await further?.asked()) ?? [])] : [];
    const places = await placesOf(asked);
    if (!closed) watcher.set(places);
  };

  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last
      .then(() => (closed ? undefined : work()))
      .catch((err: unknown) => log.warn({ err }, 'the configuration could not be checked for changes'));
    return last;
  };
  /** Reads until nothing has changed, including between reading the files and watching the files that they name. */
  const look = async (): Promise<void> => {
    for (;;) {
      await watch();
      if (closed || !serving.config.reload.watch) return;
      if ((await latest.areUnchanged()) && (await further?.areUnchanged()) !== false) return;
      await read();
      await sleep(quiet, undefined, { ref: false });
    }
  };
  const watcher = createWatcher({
    quiet,
    onQuiet: () => void inTurn(look),
    onLost: (folder, err) =>
      log.warn({ folder, err }, 'a folder of the configuration cannot be watched: send SIGHUP after a change'),
  });
  // The files may have changed before they were watched.
  void inTurn(look);

  return {
    /** Reads everything again, changed or not. Resolves when the configuration has been applied or refused. */
    now: () =>
      inTurn(async () => {
        await read();
        await look();
      }),
    close(): void {
      closed = true;
      watcher.close();
    },
  };
}
