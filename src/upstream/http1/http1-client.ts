import { AsyncLocalStorage } from 'node:async_hooks';
import { socketHost } from '../../http/host.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  LONGEST_KEPT,
  type ResponseHandler,
} from '../http-client.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './connection-owner.ts';
import { Deadlines } from './deadlines.ts';
import { Request } from './request.ts';

/** No socket and no timer may keep the context of the request that it was opened for: it outlives the request. */
const withoutContext = AsyncLocalStorage.snapshot();

/** Milliseconds between two looks at the deadlines: a sixteenth of the timeout, within these bounds. */
const SHORTEST_TICK = 5;
const LONGEST_TICK = 250;

/**
 * A lean HTTP/1.1 client for one http upstream. What it does for a request allocates little: no promise, no timer, no
 * asynchronous context. Requests are collected and leave together once per turn of the event loop.
 *
 * A kept-alive connection is only used again after the event loop has looked at its socket: an upstream that has closed
 * it, or has sent what nobody asked for, is noticed before another request is written.
 */
export class Http1Client implements HttpClient, ConnectionOwner<Connection> {
  readonly host: string;
  readonly port: number;
  readonly connectTimeout: number;
  readonly #now: () => number;
  readonly #tick: number;
  readonly #deadlines: Deadlines;
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #all = new Set<Connection>();
  /** The most recently freed one is last and is used first, so that the extra connections of a burst expire. */
  readonly #free: Connection[] = [];
  /** Released in this turn of the event loop. */
  readonly #released: Connection[] = [];
  /** To be sent in this turn, and those of the turn before. */
  #waiting: Request[] = [];
  #leaving: Request[] = [];
  #isScheduled = false;
  #isEnded = false;

  constructor(origin: string, { connectTimeout, headersTimeout, now }: HttpClientOptions) {
    const { hostname, port } = new URL(origin);
    this.host = socketHost(hostname);
    this.port = Number(port || 80);
    this.connectTimeout = connectTimeout;
    this.#now = now;
    this.#tick = Math.max(SHORTEST_TICK, Math.min(LONGEST_TICK, Math.round(headersTimeout / 16)));
    // The tick that has begun is not counted.
    this.#deadlines = new Deadlines(1 + Math.ceil(headersTimeout / this.#tick));
  }

  send(parts: HttpRequest, handler: ResponseHandler, fresh: boolean): boolean {
    const request = new Request(parts, handler, fresh);
    handler.onRequestStart(request);
    if (this.#isEnded) request.fail(new Error('The connections to this upstream were closed.'));
    if (request.isOver) return false;
    this.#waiting.push(request);
    this.#schedule();
    return !fresh;
  }

  get size(): number {
    return this.#all.size;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const gone = new Error('The connections to this upstream were closed.');
    for (const request of this.#waiting.splice(0)) request.fail(gone);
    this.#free.length = 0;
    for (const connection of [...this.#all]) connection.fail(gone);
    this.#all.clear();
    this.#stopTimer();
  }

  waits(request: Request): void {
    this.#deadlines.set(request, this.#ticks);
  }

  waitsNoMore(request: Request): void {
    this.#deadlines.clear(request);
  }

  released(connection: Connection, keep: number): void {
    connection.idleUntil = this.#ticks + Math.floor(keep / this.#tick);
    this.#released.push(connection);
    this.#schedule();
  }

  closed(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.lastIndexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    withoutContext(setImmediate, this.#leave);
  }

  /** Runs after the event loop has read from all sockets. */
  readonly #leave = (): void => {
    this.#isScheduled = false;
    const leaving = this.#waiting;
    this.#waiting = this.#leaving;
    this.#leaving = leaving;
    for (const request of leaving) {
      if (request.isOver) continue;
      const connection = request.fresh ? undefined : this.#kept();
      if (connection === undefined) this.#open(request);
      else connection.start(request);
    }
    leaving.length = 0;
    for (const connection of this.#released) if (connection.isOpen) this.#free.push(connection);
    this.#released.length = 0;
  };

  #kept(): Connection | undefined {
    for (let last = this.#free.pop(); last !== undefined; last = this.#free.pop()) {
      if (this.#mayBeUsed(last)) return last;
      this.#discard(last);
    }
    return undefined;
  }

  #mayBeUsed({ isOpen, idleUntil, since }: Connection): boolean {
    return isOpen && this.#ticks < idleUntil && this.#now() - since <= LONGEST_KEPT;
  }

  #open(request: Request): void {
    this.#all.add(new Connection(this, request, this.#now()));
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), this.#tick);
    this.#timer.unref();
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    connection.fail(new Error('The connection was no longer needed.'));
  }

  #look(): void {
    this.#ticks += 1;
    this.#deadlines.expire(this.#ticks);
    for (let at = this.#free.length - 1; at >= 0; at -= 1) {
      const connection = this.#free[at] as Connection;
      if (this.#mayBeUsed(connection)) continue;
      this.#free.splice(at, 1);
      this.#discard(connection);
    }
    if (this.#all.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
