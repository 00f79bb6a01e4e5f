import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { valueAt } from '../config/tree.ts';
import type { Principal } from '../oauth/principal.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';
import type { Message } from './message.ts';
import { CANCELLED } from './tool.ts';

export const SESSION_FIELD = 'mcp-session-id';
const LONGEST = 256;

const KIND = 'ToolCancellation';
/** Milliseconds between two looks into the store, for as long as a call is in progress. */
const LOOK_EVERY = 1000;
/** In seconds. Every replica has looked by then. */
const REMEMBERED = 60;

/**
 * Calls in progress that a `notifications/cancelled` can end (revisions before 2026-07-28; later ones close the
 * request). Ids of requests are unique only within a client, which all count from the same number: a call is found by its
 * id, the session ID that its client was given, and the grant of its token.
 *
 * Another replica, or an earlier configuration, may have the call of a member. The cancellation is then left in the
 * store, and found there under the same name. Without a member it would let anyone fill the store.
 */
export class Cancellable {
  readonly #calls = new Map<string, AbortController>();
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns what to call when the call is over. */
  begin(request: IncomingMessage, message: Message, principal: Principal, gone: AbortController): () => void {
    const name = nameOf(request, message.id, principal);
    if (name === undefined) return () => undefined;
    this.#calls.set(name, gone);
    const looking =
      principal.kind === 'member' ? setInterval(() => void this.#look(name, gone), LOOK_EVERY) : undefined;
    return () => {
      clearInterval(looking);
      if (this.#calls.get(name) === gone) this.#calls.delete(name);
    };
  }

  /** Rejects with GatewayError `store_unavailable` if the call may be at another replica, which cannot be told. */
  async cancel(request: IncomingMessage, message: Message, principal: Principal): Promise<void> {
    const name = nameOf(request, valueAt(message.params, ['requestId']), principal);
    if (name === undefined) return;
    const here = this.#calls.get(name);
    if (here !== undefined) here.abort(CANCELLED);
    else if (principal.kind === 'member') {
      const expiresAt = unixSeconds(this.#clock) + REMEMBERED;
      await this.#store.commit([
        { op: 'put', entry: { kind: KIND, id: keyOf(name), payload: '', expiresAt, references: {} } },
      ]);
    }
  }

  /** A store that fails ends no call. */
  async #look(name: string, gone: AbortController): Promise<void> {
    const found = await this.#store.get(KIND, keyOf(name)).catch(() => undefined);
    if (found !== undefined) gone.abort(CANCELLED);
  }
}

function nameOf({ headers }: IncomingMessage, id: unknown, principal: Principal): string | undefined {
  const session = headers[SESSION_FIELD];
  if (typeof session !== 'string' || session.length > LONGEST || !isShort(id)) return undefined;
  return JSON.stringify([principal.kind === 'member' ? principal.grantId : null, session, id]);
}

const keyOf = (name: string) => hash('sha256', name, 'base64url');

/** A request id or a progress token that is short enough to be kept or repeated. */
export function isShort(id: unknown): id is string | number {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= LONGEST);
}
