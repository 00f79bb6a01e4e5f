import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { memoryStore } from './memory.ts';
import { sealedStore } from './seal.ts';
import { secretBeside } from './secret.ts';
import { sqliteStore } from './sqlite.ts';
import type { Clock, Store } from './store.ts';

/**
 * Opens the store that the configuration names, sealed. In: the operator's secret, when one is named. Out: the store,
 * and the secret it is sealed with, from which every other key is derived. Throws GatewayError `store_unavailable`.
 */
export function openStore(
  config: Config['store'],
  named: string | undefined,
  clock: Clock,
): { store: Store; secret: string } {
  if (config.kind === 'memory') {
    const secret = named ?? randomBytes(32).toString('base64url');
    return { store: sealedStore(memoryStore(clock), secret), secret };
  }
  const inner = sqliteStore(config.path, clock);
  const secret = named ?? secretBeside(config.path);
  return { store: sealedStore(inner, secret), secret };
}
