import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../errors.ts';
import type { Clock } from '../../storage/store.ts';
import type { FailedOutcome } from '../tool.ts';
import { connect } from './connect.ts';
import { hashOf } from './definition.ts';
import { endSession, type ServerCaller, type ServerSession } from './exchange.ts';

interface Connection {
  readonly session: ServerSession;
  /** The hash of each tool that is used, by its name. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Milliseconds since the epoch. */
  readonly listed: number;
}

type Opened = Connection | { readonly failed: FailedOutcome };
type Entry = { readonly caller: ServerCaller; readonly opened: Promise<Opened> };

/** Milliseconds for which a list is used. */
const LIST_LIFE = 60_000;
/** Milliseconds for the requests that open a connection, for which several calls may wait. */
const LONGEST_OPENING = 20_000;
const MOST_CONNECTIONS = 1000;

/**
 * The connections to the MCP endpoints of upstreams: one for each endpoint and grant, because what a server lists and
 * what it keeps in a session may be about the member. The least recently used are ended.
 */
export class ToolServerConnections {
  readonly #names: readonly string[];
  readonly #clock: Clock;
  readonly #open = new LRUCache<string, Entry>({
    max: MOST_CONNECTIONS,
    dispose: ({ caller, opened }, _key, reason) => {
      if (reason !== 'evict') return;
      opened.then((one) => ('session' in one ? endSession(caller, one.session) : undefined)).catch(() => undefined);
    },
  });

  /** @param names of the tools that are used, of all servers */
  constructor(names: readonly string[], clock: Clock) {
    this.#names = names;
    this.#clock = clock;
  }

  /** Connects, or reads the list again when it is old. Rejects with GatewayError, also when the caller leaves. */
  async get(caller: ServerCaller): Promise<Opened> {
    const key = keyOf(caller);
    const before = this.#open.get(key);
    const found = before && (await whileWaiting(before.opened, caller.signal));
    if (found !== undefined && ('failed' in found || this.#clock() - found.listed < LIST_LIFE)) return found;
    // Another call may have begun to open it meanwhile.
    if (this.#open.get(key) !== before) return this.get(caller);
    const alone = { ...caller, signal: AbortSignal.timeout(LONGEST_OPENING), onLine: undefined };
    const entry = { caller: alone, opened: this.#connect(alone, found?.session) };
    this.#open.set(key, entry);
    const forget = () => this.#open.get(key) === entry && this.#open.delete(key);
    entry.opened.then((opened) => 'failed' in opened && forget(), forget);
    return whileWaiting(entry.opened, caller.signal);
  }

  /** Lists again, and begins another session if the server does not know this one any more. */
  async renew(caller: ServerCaller, connection: Connection): Promise<Opened> {
    const key = keyOf(caller);
    if ((await this.#open.get(key)?.opened) === connection)
      this.#open.set(key, { caller, opened: Promise.resolve({ ...connection, listed: Number.NEGATIVE_INFINITY }) });
    return this.get(caller);
  }

  async #connect(caller: ServerCaller, before: ServerSession | undefined): Promise<Opened> {
    const made = await connect(caller, before);
    if ('failed' in made) return made;
    const used = this.#names.flatMap((name) => made.tools.get(name) ?? []);
    const hashes = new Map(used.map((definition) => [definition.name, hashOf(definition)]));
    return { session: made.session, hashes, listed: this.#clock() };
  }
}

function keyOf({ upstream, path, principal }: ServerCaller): string {
  return JSON.stringify([upstream, path, principal.kind === 'member' ? principal.grantId : null]);
}

/** Rejects when the signal aborts, without ending what is waited for. */
async function whileWaiting<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(new GatewayError('upstream_timeout', { cause: signal.reason }));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  return Promise.race([work, left.promise]).finally(() => signal.removeEventListener('abort', leave));
}
