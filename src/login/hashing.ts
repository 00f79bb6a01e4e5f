import type { PasswordHash } from './password-hash.ts';

/** Verifies password hashes with limited concurrency. */
export interface Hashing {
  /** Whether the password matches; `busy` when too many are already waiting. */
  verify(hash: PasswordHash, password: string): Promise<boolean | 'busy'>;
}

/** Half of the thread pool. The other half is left for signing tokens, DNS lookups and file access. */
const AT_ONCE = 2;
const WAITING = 32;

/** Queues bursts of sign-ins, so that the rest of the gate keeps working. */
export function createHashing({ atOnce = AT_ONCE, waiting = WAITING } = {}): Hashing {
  const line: (() => void)[] = [];
  let under = 0;

  return {
    async verify(hash, password) {
      if (under >= atOnce) {
        if (line.length >= waiting) return 'busy';
        // A finished verification hands its slot directly to the next in line, so no newcomer can take it.
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
