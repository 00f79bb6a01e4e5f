import { hash } from 'node:crypto';

export interface Share {
  /**
   * Returns the value that another share has under this name, if it was made `from` the same settings (anything that
   * JSON can hold). Otherwise makes a new one. `end` is called when no share holds it any more.
   */
  acquire<T>(name: string, from: unknown, make: () => T, end?: (value: T) => unknown): T;
  /** Gives everything back, and ends what no other share holds. */
  release(): Promise<void>;
}

interface Entry {
  readonly value: unknown;
  readonly end: () => unknown;
  holders: number;
}

/**
 * State that outlives the configuration it was made for, such as connections and counters. The next configuration takes
 * over what it would make from the same settings. What no configuration uses any more is ended.
 */
export interface CarriedOver {
  /** A share for one configuration. */
  share(): Share;
}

export function carriedOver(): CarriedOver {
  const entries = new Map<string, Entry>();

  return {
    share() {
      const own = new Map<string, Entry>();
      return {
        acquire<T>(name: string, from: unknown, make: () => T, end?: (value: T) => unknown): T {
          const key = `${name} ${fingerprint(from)}`;
          const entry = own.get(key) ?? entries.get(key) ?? newEntry(make(), end);
          if (!own.has(key)) entry.holders += 1;
          own.set(key, entry);
          entries.set(key, entry);
          return entry.value as T;
        },
        async release() {
          const released = [...own];
          own.clear();
          await Promise.all(
            released.map(([key, entry]) => {
              entry.holders -= 1;
              if (entry.holders > 0) return undefined;
              entries.delete(key);
              return entry.end();
            }),
          );
        },
      };
    },
  };
}

function newEntry<T>(value: T, end: ((value: T) => unknown) | undefined): Entry {
  return { value, end: () => end?.(value), holders: 0 };
}

/** A hash, because the settings may contain secrets. */
function fingerprint(from: unknown): string {
  return hash('sha256', JSON.stringify(from) ?? '', 'base64url');
}
