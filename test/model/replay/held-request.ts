import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { RawMutation } from '../../../src/storage/store.ts';
import { unavailable } from './copies.ts';

/** A call of the store. */
export type Call =
  | { readonly op: 'get' | 'findBy'; readonly kind: string }
  | { readonly op: 'commit'; readonly mutations: readonly RawMutation[] };

/** Where a request waits: before a call, or after it, when it has happened and the gate does not know yet. */
export interface Stop {
  readonly call: Call;
  readonly when: 'before' | 'after';
  /** How many commits there were. With a standby that commits wait for, these it must have. */
  readonly written: number;
}

/** Whether a request of this kind waits there. `result` is that of the call, when it has happened. */
export type Stops = (call: Call, when: Stop['when'], result?: unknown) => boolean;

/** The field that names a request, so that what the gate does for it can be told apart. */
export const FIELD = 'x-replayed';

const requests = new Map<string, HeldRequest>();
const current = new AsyncLocalStorage<HeldRequest | undefined>();
subscribe('http.server.request.start', (message) => {
  const { request } = message as { readonly request: IncomingMessage };
  current.enterWith(requests.get(String(request.headers[FIELD])));
});

/** The request that the running code works for, if it is one that is held. */
export const heldRequest = (): HeldRequest | undefined => current.getStore();

/** A request whose calls of the store wait to be told to go on, so that requests take turns in a given order. */
export class HeldRequest {
  readonly name: string;
  readonly stops: Stops;
  /** Where it waits now. */
  stop: Stop | undefined;
  /** How many calls it made. */
  calls = 0;
  #goOn: { readonly resolve: () => void; readonly reject: (reason: Error) => void } | undefined;
  #wake: () => void = () => {};

  constructor(name: string, stops: Stops = () => false) {
    this.name = name;
    this.stops = stops;
    requests.set(name, this);
  }

  /** Waits, in the gate. */
  wait(stop: Stop): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stop = stop;
      this.#goOn = { resolve, reject };
      this.#wake();
    });
  }

  /** Lets it go on until it waits again or `over` settles. */
  async advance(over: Promise<unknown>): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#release()?.resolve();
    await Promise.race([stopped, over]);
  }

  /** The store gives up: the call that waits fails, as all further ones of this request. */
  fail(): void {
    this.#release()?.reject(unavailable());
  }

  forget(): void {
    this.fail();
    requests.delete(this.name);
  }

  #release() {
    const goOn = this.#goOn;
    this.stop = undefined;
    this.#goOn = undefined;
    return goOn;
  }
}

function changes({ op, ...of }: RawMutation): string {
  return `${op} ${'entry' in of ? of.entry.kind : of.kind}`;
}

const commits = (call: Call, change?: string) =>
  call.op === 'commit' && (change === undefined || call.mutations.some((one) => changes(one) === change));

/** The end of a connection with all that belongs to it, in one commit. Its grant may be gone already. */
export const endsConnection = (call: Call) => commits(call, 'deleteBy AccessToken');

/**
 * A token request waits before it looks for an earlier answer, if it does not try to commit, before it commits, and when
 * the commit has happened.
 */
export function tokenRequest(): Stops {
  let tried = false;
  return (call, when, result) => {
    if (commits(call)) {
      tried = true;
      return when === 'after' ? result === true : call.op === 'commit' && call.mutations.length > 0;
    }
    return when === 'before' && !tried && call.op === 'findBy' && call.kind === 'RefreshToken';
  };
}

/** A revocation waits when it has happened. */
export const revocation: Stops = (call, when) => when === 'after' && endsConnection(call);

/** A suspension waits when it has happened, before it looks for connections, and when it has ended them. */
export const suspension: Stops = (call, when) =>
  when === 'after'
    ? commits(call, 'create Suspension') || endsConnection(call)
    : call.op === 'findBy' && call.kind === 'Grant';

/** An approval waits before it is written. */
export const approval: Stops = (call, when) => when === 'before' && commits(call, 'put Grant');

/** A look-up of an access token waits when it has found everything. */
export const lookUp: Stops = (call, when) => when === 'after' && call.op === 'get' && call.kind === 'Grant';
