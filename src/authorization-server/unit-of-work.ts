import { AsyncLocalStorage } from 'node:async_hooks';
import type { AdapterPayload } from 'oidc-provider';
import type { Entry, Mutation, NewEntry, Priority, Store } from '../storage/store.ts';
import type { Found } from './refresh-family.ts';

/**
 * Holds back what one token request writes until the request is known to succeed, then commits it in one atomic step
 * before the response is written. oidc-provider consumes a code or refresh token before it has checked everything else:
 * this way a failed request costs the client nothing, and of two concurrent requests only one commits.
 *
 * Removals are held back separately and committed even if the request fails, because a detected reuse must revoke
 * although it fails. They are one step, too: if the refresh token were gone and the access token left, the client could
 * no longer revoke the connection, because the token it would send is unknown.
 */
export class UnitOfWork {
  readonly #store: Store;
  #mutations: Mutation[] = [];
  readonly #written = new Map<string, Entry>();
  readonly #used = new Set<string>();
  /** Whether something it consumes was already consumed when it was read. Then this is no race with another request. */
  usedBefore = false;
  /** Whether the store was asked about a code or refresh token. A refusal then says what the store knows. */
  hasRead = false;
  /** The refresh token that the request presented, as it was found in the record of its family. */
  presented:
    | {
        readonly kind: Found['kind'];
        readonly family: string;
        /** Of the record. */
        readonly revision: number;
        /** As it was read. */
        readonly record: string;
        /** When that began, from `performance.now()`. */
        readonly since: number;
        readonly payload: AdapterPayload;
      }
    | undefined;
  readonly #removals: Mutation[] = [];
  readonly #afterRemoval = new Set<() => unknown>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads its own writes. */
  async get(kind: string, id: string): Promise<Entry | undefined> {
    this.hasRead = true;
    const entry = this.#written.get(`${kind}\0${id}`) ?? (await this.#store.get(kind, id));
    if (entry?.consumedAt !== undefined) this.#used.add(`${kind}\0${id}`);
    return entry;
  }

  put(entry: NewEntry): void {
    this.#mutations.push({ op: 'put', entry });
    this.#written.set(`${entry.kind}\0${entry.id}`, { ...entry, consumedAt: undefined, revision: 1 });
  }

  consume(kind: string, id: string): void {
    this.#mutations.push({ op: 'consume', kind, id });
    if (this.#used.has(`${kind}\0${id}`)) this.usedBefore = true;
  }

  /** The same for the presented refresh token, whose record is then updated. */
  consumePresented(): void {
    if (this.presented?.kind !== 'present') this.usedBefore = true;
  }

  /** Changes an entry that this unit is about to write. */
  amend(kind: string, id: string, change: (entry: NewEntry) => NewEntry): void {
    this.#mutations = this.#mutations.map((mutation) =>
      'entry' in mutation && mutation.entry.kind === kind && mutation.entry.id === id
        ? { ...mutation, entry: change(mutation.entry) }
        : mutation,
    );
  }

  /**
   * Adds a mutation that this unit does not read again, such as a deletion that applies only if the request succeeds.
   */
  add(mutation: Mutation): void {
    this.#mutations.push(mutation);
  }

  /**
   * @param mutation - a deletion, or a write that accompanies one
   * @param after - called after the removals are committed, before the response is written
   */
  remove(mutation: Mutation, after?: () => unknown): void {
    this.#removals.push(mutation);
    if (after !== undefined) this.#afterRemoval.add(after);
  }

  async commitRemovals(): Promise<void> {
    if (this.#removals.length === 0) return;
    try {
      await this.#store.commit(this.#removals, 'vital');
    } finally {
      // Also after a failure: the commit may have been applied.
      await Promise.all([...this.#afterRemoval].map((after) => after()));
    }
  }

  /** Returns false if another request consumed the same code or refresh token first. Nothing is written then. */
  commit(priority?: Priority): Promise<boolean> {
    // The update of a record names no used token. For a code, the store itself refuses, or says that it cannot be used.
    if (this.usedBefore && this.presented !== undefined) return Promise.resolve(false);
    return this.#mutations.length === 0 ? Promise.resolve(true) : this.#store.commit(this.#mutations, priority);
  }
}

const current = new AsyncLocalStorage<UnitOfWork>();

/** Runs `work` with a unit of work that the adapter gets from `currentUnitOfWork`. */
export function withinUnitOfWork<T>(unit: UnitOfWork, work: () => Promise<T>): Promise<T> {
  return current.run(unit, work);
}

export function currentUnitOfWork(): UnitOfWork | undefined {
  return current.getStore();
}
