import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { WatchedFolders } from './places.ts';

export interface WatcherOptions {
  /** Called after a change, once there were no more changes for `quiet` milliseconds. */
  readonly onQuiet: () => void;
  /** Called when a folder cannot be watched, or can no longer be watched. */
  readonly onLost: (folder: string, error: Error) => void;
  /** Milliseconds without changes before `onQuiet` is called, since a file may be written in several steps. */
  readonly quiet: number;
}

/** Watches names in folders for changes. */
export function createWatcher({ onQuiet, onLost, quiet }: WatcherOptions) {
  let places: WatchedFolders = new Map();
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
        // The folder itself was moved or deleted. Its watch is dead; a new one is created if the folder exists again.
        if (name === basename(folder)) drop(folder);
        else if (name !== null && names !== 'all' && names?.has(name) !== true) return;
        changed();
      });
      watched.set(folder, watcher.on('error', lost));
    } catch (thrown) {
      // The folder disappeared meanwhile: look again.
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') changed();
      else lost(thrown as Error);
    }
  };

  return {
    /** Replaces the watched places. */
    set(next: WatchedFolders): void {
      places = next;
      for (const folder of watched.keys()) if (!next.has(folder)) drop(folder);
      for (const folder of next.keys()) if (!watched.has(folder)) add(folder);
    },
    close(): void {
      clearTimeout(timer);
      for (const folder of watched.keys()) drop(folder);
    },
  };
}
