import type { Config } from '../config/schema.ts';
import { secretsBeside } from './secret.ts';
import { CHECK_LIMITS } from './sqlite-check.ts';
import { holdDatabase } from './sqlite-file.ts';

/** An embedded store that is kept for the workers of this process. */
export interface HeldStore {
  /** What it is sealed with. */
  readonly secret: string;
  /** What else its own file holds: what it was sealed with before. */
  readonly furtherSecrets: readonly string[];
  /** What is wrong with a large file that was still being read when they began; undefined: nothing. */
  readonly found: Promise<{ readonly message: string } | undefined>;
  /** To be called once they are gone. */
  release(): Promise<void>;
}

/**
 * Makes an embedded store and its secret when they are not there, looks it over, brings it up to this version and keeps
 * other gates out, all before several processes open it. Throws StoreOpenError.
 */
export function holdStore(
  { path }: Extract<Config['store'], { kind: 'sqlite' }>,
  named: string | undefined,
): HeldStore {
  const { check, unlock } = holdDatabase(path, CHECK_LIMITS);
  const [secret, ...furtherSecrets] = named === undefined ? secretsBeside(path) : ([named] as const);
  return {
    secret,
    furtherSecrets,
    found: check.found,
    async release() {
      await check.stop();
      unlock();
    },
  };
}
