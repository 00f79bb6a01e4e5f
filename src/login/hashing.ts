import type { PasswordHash } from './password-hash.ts';

/** Verifies hashes, so many at a time. */
export interface Hashing {
  /** Out: whether the password fits; `busy` when so many wait already that this one would wait too long. */
  verify(hash: PasswordHash, password: string): Promise<boolean | 'busy'>;
}

/** Half of the thread pool: the other half signs tokens, finds names and reads files for everybody else. */
const AT_ONCE = 2;
const WAITING = 32;

/** A storm of sign-ins waits in line, and the gate goes on. */
export function createHashing({ atOnce = AT_ONCE, waiting = WAITING } = {}): Hashing {
  const line: (() => void)[] = [];
  let under = 0;

  return {
    async verify(hash, password) {
      if (under >= atOnce) {
        if (line.length >= waiting) return 'busy';
        // Who is let in takes over the place of who left: nobody slips in between.
        await new Promise<void>((go) => line.push(go));
      } else under += 1;
      try {
        return await hash.verify(password);
      } finally {
        const next = line.shift();
        if (next === undefined) under -= 1;
        else next();
      }
    },
  };
}
