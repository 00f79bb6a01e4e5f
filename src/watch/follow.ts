import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadedConfig, loadConfig, sourceFilesOf } from '../config/load.ts';
import type { Environment } from '../config/setting.ts';
import type { Log } from '../operations/log.ts';
import { placesOf } from './places.ts';
import { createWatcher } from './watcher.ts';

export interface FollowOptions {
  /** As the operator named it. */
  readonly file: string;
  readonly environment: Environment;
  /** What the gate was started with. */
  readonly loaded: LoadedConfig;
  /** Takes a configuration over, or refuses it; never rejects. */
  readonly reload: (load: () => Promise<LoadedConfig>) => Promise<{ readonly kind: 'taken' | 'refused' }>;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds without a change before one is looked at. */
  readonly quiet?: number;
}

export interface Following {
  /** Reads everything anew, whether or not it has changed. Resolves when that is taken over, or refused. */
  now(): Promise<void>;
  close(): void;
}

const QUIET = 500;
/** How often it is read again because it changed while it was read. */
const MOST_READ = 10;

/**
 * Has the gate follow its configuration: the file, and all files that it names. Each change is read whole when it has been
 * quiet for a while, and again when it changed meanwhile, so that no two halves are put together. What is refused is
 * tried again at the next change.
 */
export function followConfig(options: FollowOptions): Following {
  const { file, environment, reload, log, quiet = QUIET } = options;
  let serving = options.loaded;
  /** What was read last, whether or not it could be used. */
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
    // A broken one may name fewer files than it needs.
    const asked = serving.config.reload.watch ? [...serving.sources.asked(), ...latest.asked()] : [];
    const places = await placesOf(asked);
    if (!closed) watcher.set(places);
  };

  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last
      .then(() => (closed ? undefined : work()))
      .catch((err: unknown) => log.warn({ err }, 'the configuration could not be looked at'));
    return last;
  };
  /** Reads until nothing has changed since: also not between the reading, and the watch on what was named in it. */
  const look = async (): Promise<void> => {
    for (;;) {
      await watch();
      if (closed || !serving.config.reload.watch || (await latest.areUnchanged())) return;
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
  // It may have changed before it was watched.
  void inTurn(look);

  return {
    now: () =>
      inTurn(async () => {
        await read();
        await look();
      }),
    close() {
      closed = true;
      watcher.close();
    },
  };
}
