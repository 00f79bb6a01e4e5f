import { randomBytes } from 'node:crypto';
import type { OpenedKind, StoreSecrets } from '../opened-store.ts';
import type { Clock } from '../store.ts';
import { memoryStore } from './memory-store.ts';

/** Opens a store in memory. See openStore. */
export function openMemory(_config: unknown, { secret }: StoreSecrets, clock: Clock): OpenedKind {
  return { raw: memoryStore(clock), secrets: [secret ?? randomBytes(32).toString('base64url')] };
}
