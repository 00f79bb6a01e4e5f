import { randomBytes } from 'node:crypto';
import type { OpenedStore, StoreOpening } from '../opened-store.ts';
import { sealed } from '../seal.ts';
import { withoutReplicas } from '../without-replicas.ts';
import { memoryStore } from './memory-store.ts';

/** Opens a store in memory. See openStore. */
export function openMemory(_config: unknown, { named, clock, onDamaged }: StoreOpening): OpenedStore {
  const { secret = randomBytes(32).toString('base64url'), furtherSecrets = [] } = named;
  const opened = sealed(memoryStore(clock), [secret, ...furtherSecrets], onDamaged);
  return { ...opened, ...withoutReplicas(clock), probe: async () => undefined };
}
