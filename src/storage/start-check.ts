import { randomUUID } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { StoreNotReady } from './open-failure.ts';
import type { Store } from './store.ts';

/** Writes, reads and deletes as every request does. This finds a user that may not do so, or what is in the way. */
export async function tryWhatIsDone(store: Store): Promise<void> {
  const [kind, id] = ['StartCheck', randomUUID()];
  const references = { grant: id };
  // Vital writes, which the gate sends however little room is left: here the store itself is tested.
  const commit: Store['commit'] = (mutations) => store.commit(mutations, 'vital');
  await commit([{ op: 'create', entry: { kind, id, payload: '{}', expiresAt: undefined, references } }]);
  await commit([
    { op: 'put', entry: { kind, id, payload: '{}', expiresAt: Math.floor(Date.now() / 1000) + 60, references } },
    { op: 'consume', kind, id },
  ]);
  await store.get(kind, id);
  await store.findBy(kind, 'grant', id, 1);
  await commit([{ op: 'deleteBy', kind, name: 'grant', value: id }]);
  await store.sweep(1);
}

/** Messages of a server, after their code if there is one, with what operators can do. The first that matches applies. */
export type Advice = readonly (readonly [pattern: RegExp, advice: string])[];

/** A server that is not there, or that goes away while it is asked, as in a failover. */
const GONE =
  /\b(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)\b|took too long|closed|hang up|max retries/i;

/**
 * The failure of a start, in words for operators. StoreNotReady if it may pass by itself.
 * @param passes what passes by itself besides a connection that fails
 * @param reworded the server's or the driver's message for operators
 */
export function startFailure(
  store: string,
  thrown: unknown,
  advice: Advice,
  passes: RegExp,
  reworded = (message: string) => message,
): GatewayError {
  if (!(thrown instanceof GatewayError)) return new GatewayError('store_unavailable', { cause: thrown });
  if (!(thrown.cause instanceof Error)) return thrown;
  const { message: given, code = '' } = thrown.cause as NodeJS.ErrnoException;
  const message = reworded(given);
  const told = `${code} ${message}`.trim();
  const next = advice.find(([pattern]) => pattern.test(told))?.[1] ?? 'Check that it is running, and its address.';
  const text = `The store in ${store} cannot be used: ${message.replace(/\.$/, '')}. ${next}`.trim();
  if (passes.test(told) || GONE.test(told)) return new StoreNotReady(text);
  return new GatewayError('store_unavailable', { message: text });
}
