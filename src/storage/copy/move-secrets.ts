import { contextOf, openWithAny, seal } from '../cipher.ts';
import { deriveKey, type Secrets } from '../seal.ts';

/** What opens a school elsewhere: never the secret of its process, from which others can be derived. */
export interface MoveSecrets {
  /** The secrets of the school. The first one seals. */
  readonly secrets: readonly string[];
  /** The key that its ids are hashed with, as its store has it. */
  readonly key: string;
}

const contextFor = (id: string) => ({ kind: 'SchoolMove', id });
const keyOf = (secret: string) => deriveKey(secret, 'school-move');

/** Seals what a command and a process with the same secret tell each other about a school. */
export function sealForMove(secret: string, id: string, given: unknown): string {
  return seal(keyOf(secret), JSON.stringify(given), contextOf(contextFor(id)));
}

/** Throws GatewayError `store_unavailable` if it was sealed with another secret, or for another school. */
export function openForMove<T>(secrets: Secrets, id: string, sealed: string): T {
  return JSON.parse(openWithAny(secrets.map(keyOf), { ...contextFor(id), payload: sealed })) as T;
}
