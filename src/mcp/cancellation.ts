import type { IncomingMessage } from 'node:http';
import { valueAt } from '../config/tree.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Message } from './message.ts';
import { CANCELLED } from './tool.ts';

export const SESSION_FIELD = 'mcp-session-id';
const LONGEST = 256;

/**
 * Calls in progress that a `notifications/cancelled` can end (revisions before 2026-07-28; later ones close the
 * request). Ids of requests are unique only within a client, which all count from the same number: a call is found by its
 * id, the session ID that its client was given, and the grant of its token.
 */
export class Cancellable {
  readonly #calls = new Map<string, AbortController>();

  /** Returns what to call when the call is over. */
  begin(request: IncomingMessage, message: Message, principal: Principal, gone: AbortController): () => void {
    const name = nameOf(request, message.id, principal);
    if (name === undefined) return () => undefined;
    this.#calls.set(name, gone);
    return () => this.#calls.get(name) === gone && this.#calls.delete(name);
  }

  cancel(request: IncomingMessage, message: Message, principal: Principal): void {
    const name = nameOf(request, valueAt(message.params, ['requestId']), principal);
    if (name !== undefined) this.#calls.get(name)?.abort(CANCELLED);
  }
}

function nameOf({ headers }: IncomingMessage, id: unknown, principal: Principal): string | undefined {
  const session = headers[SESSION_FIELD];
  if (typeof session !== 'string' || session.length > LONGEST || !isShort(id)) return undefined;
  return JSON.stringify([principal.kind === 'member' ? principal.grantId : null, session, id]);
}

/** A request id or a progress token that is short enough to be kept or repeated. */
export function isShort(id: unknown): id is string | number {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= LONGEST);
}
