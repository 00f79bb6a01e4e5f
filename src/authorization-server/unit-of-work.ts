import { AsyncLocalStorage } from 'node:async_hooks';
import type { Entry, Mutation, NewEntry, Priority, Store } from '../storage/store.ts';

/**
 * What one token request writes, held back until the request is known to succeed, then committed in one atomic step
 * before the answer is written. oidc-provider consumes a code or refresh token before it has checked everything else;
 * held back, a failed request costs the client nothing, and of two that race only one commits.
 *
 * What it removes is held back apart, and committed whether it succeeds or not: a detected replay must revoke although
 * it fails. In one step all the same: with its refresh token gone and its access token left, a connection could not be
 * revoked by the client any more, since the token it would name is unknown.
 */
export class UnitOfWork {
  readonly #store: Store;
  readonly #mutations: Mutation[] = [];
  readonly #written = new Map<string, Entry>();
  readonly #used = new Set<string>();
  #usedBefore = false;
  readonly #removals: Mutation[] = [];
  readonly #afterRemoval = new Set<() => unknown>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads its own writes. */
  async get(kind: string, id: string): Promise<Entry | undefined> {
    const entry = this.#written.get(`${kind}\0${id}`) ?? (await this.#store.get(kind, id));
    if (entry?.consumedAt !== undefined) this.#used.add(`${kind}\0${id}`);
    return entry;
  }

  /** Whether something it consumes had been consumed when it was read: then no other request raced it, it is old. */
  get usedBefore(): boolean {
    return this.#usedBefore;
  }

  put(entry: NewEntry): void {
    this.#mutations.push({ op: 'put', entry });
    this.#written.set(`${entry.kind}\0${entry.id}`, { ...entry, consumedAt: undefined });
  }

  consume(kind: string, id: string): void {
    this.#mutations.push({ op: 'consume', kind, id });
    if (this.#used.has(`${kind}\0${id}`)) this.#usedBefore = true;
  }

  /** What is not read again in this unit, such as a deletion that counts only if the request succeeds. */
  add(mutation: Mutation): void {
    this.#mutations.push(mutation);
  }

  /** In: a deletion, or what is written with one; and what to do once it is done, before the answer is written. */
  remove(mutation: Mutation, after?: () => unknown): void {
    this.#removals.push(mutation);
    if (after !== undefined) this.#afterRemoval.add(after);
  }

  async commitRemovals(): Promise<void> {
    if (this.#removals.length === 0) return;
    await this.#store.commit(this.#removals, 'vital');
    await Promise.all([...this.#afterRemoval].map((after) => after()));
  }

  /** Out: false when another request consumed the same code or refresh token first; then nothing was written. */
  commit(priority?: Priority): Promise<boolean> {
    return this.#mutations.length === 0 ? Promise.resolve(true) : this.#store.commit(this.#mutations, priority);
  }
}

const current = new AsyncLocalStorage<UnitOfWork>();

/** Runs `work` with a unit of work that the adapter finds by `currentUnitOfWork`. */
export function withinUnitOfWork<T>(unit: UnitOfWork, work: () => Promise<T>): Promise<T> {
  return current.run(unit, work);
}

export function currentUnitOfWork(): UnitOfWork | undefined {
  return current.getStore();
}
