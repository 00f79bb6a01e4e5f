import type { Share } from '../config/carried-over.ts';
import { createHashing, type Hashing } from '../passwords/hashing.ts';

/** The queue of password hashes, which a new configuration shares with the previous one. */
export function sharedHashing(share: Share): Hashing {
  return share.acquire('hashing', undefined, createHashing);
}
