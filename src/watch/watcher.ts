import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Places } from './places.ts';

/** Waits for changes of names in folders. */
export interface Watcher {
  /** What is watched from now on; what was before and is not among it, no more. */
  set(places: Places): void;
  close(): void;
}

export interface WatcherOptions {
  /** Something changed, and it has been quiet for a while since. */
  readonly onQuiet: () => void;
  /** A folder cannot be watched, or not any more. */
  readonly onLost: (folder: string, error: Error) => void;
  /** Milliseconds without a change before one is told of: who writes a file in pieces is not done yet. */
  readonly quiet: number;
}

export function createWatcher({ onQuiet, onLost, quiet }: WatcherOptions): Watcher {
  let places: Places = new Map();
  const watched = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onQuiet, quiet).unref();
  };
  const drop = (folder: string): void => {
    watched.get(folder)?.close();
    watched.delete(folder);
  };
  const add = (folder: string): void => {
    const lost = (error: Error): void => {
      drop(folder);
      onLost(folder, error);
    };
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        const names = places.get(folder);
        // The folder itself was moved or taken away: its watch hears nothing more, and is made anew if there is another.
        if (name === basename(folder)) drop(folder);
        else if (name !== null && names !== 'all' && names?.has(name) !== true) return;
        changed();
      });
      watched.set(folder, watcher.on('error', lost));
    } catch (thrown) {
      // Gone since it was looked for: what is there instead is.
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') changed();
      else lost(thrown as Error);
    }
  };

  return {
    set(next) {
      places = next;
      for (const folder of watched.keys()) if (!next.has(folder)) drop(folder);
      for (const folder of next.keys()) if (!watched.has(folder)) add(folder);
    },
    close() {
      clearTimeout(timer);
      for (const folder of watched.keys()) drop(folder);
    },
  };
}
