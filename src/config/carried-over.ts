import { createHash } from 'node:crypto';

/**
 * What outlives the configuration that it was made for: connections, counts, what was asked before. The next generation
 * takes it over as long as it would make it from the same; what nobody has a share in any more is ended.
 */
export interface CarriedOver {
  /** A share for one generation. */
  share(): Share;
}

export interface Share {
  /**
   * In: a name; all that it is made from, as JSON takes it; how it is made; how it is ended. Out: what another share has
   * under that name, made from the same, else a new one.
   */
  take<T>(name: string, from: unknown, make: () => T, end?: (it: T) => unknown): T;
  /** Gives the share back, and ends what no other share holds. */
  release(): Promise<void>;
}

interface Kept {
  readonly it: unknown;
  readonly end: () => unknown;
  shares: number;
}

export function carriedOver(): CarriedOver {
  const kept = new Map<string, Kept>();

  return {
    share() {
      const taken = new Map<string, Kept>();
      return {
        take<T>(name: string, from: unknown, make: () => T, end?: (it: T) => unknown): T {
          const key = `${name} ${fingerprint(from)}`;
          const own = taken.get(key);
          if (own !== undefined) return own.it as T;
          const found = kept.get(key) ?? keep(key, make(), end);
          found.shares += 1;
          taken.set(key, found);
          return found.it as T;
        },
        async release() {
          const all = [...taken];
          taken.clear();
          await Promise.all(
            all.map(([key, one]) => {
              one.shares -= 1;
              if (one.shares > 0) return undefined;
              kept.delete(key);
              return one.end();
            }),
          );
        },
      };
    },
  };

  function keep<T>(key: string, it: T, end: ((it: T) => unknown) | undefined): Kept {
    const one: Kept = { it, end: () => end?.(it), shares: 0 };
    kept.set(key, one);
    return one;
  }
}

/** Secrets may be among it, and are not kept. */
function fingerprint(from: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(from) ?? '')
    .digest('base64url');
}
