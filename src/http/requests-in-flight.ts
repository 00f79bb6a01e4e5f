import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { RequestRecord } from './request-record.ts';
import { whenClosed } from './when-closed.ts';

/** The token that admitted a request. */
export interface AdmittingToken {
  /** Every Authorization field of the request. */
  readonly authorization: readonly string[];
  readonly principal: MemberPrincipal;
  /** When the token expires, in Unix seconds. */
  readonly expires: number;
  /** Since when its validity is unknown, in milliseconds since the epoch; undefined while it is known. */
  doubted: number | undefined;
}

/** A step at the end of a request: each undoes or reports what one module did at its beginning. */
export type EndStep = (request: RequestInFlight) => void;

/**
 * A request until its response, or the socket of an upgrade, closes. It holds what the end steps need, so that they
 * are the same functions for every request.
 */
export class RequestInFlight {
  readonly server: Server;
  readonly request: IncomingMessage;
  /** Undefined for an upgrade. */
  readonly response: ServerResponse | undefined;
  /** The gate that it is for, where there are several; undefined until that is known. */
  gate: object | undefined = undefined;
  /** The generation that handles it; undefined until one does. */
  owner: object | undefined = undefined;
  /** Run in order when the request is over. */
  endSteps: readonly EndStep[] = [];
  /** Undefined for requests to the admin listener. */
  record: RequestRecord | undefined = undefined;
  /** What had been written to its socket when the record began, in bytes. */
  bytesBefore = 0;
  /** The status that was sent to an upgrade; 0 while there is none. */
  tunnelStatus = 0;
  /** Undefined while no member's token has admitted it. */
  token: AdmittingToken | undefined = undefined;
  /** The address and the member that it counts for as an open request. */
  openAddress: string | undefined = undefined;
  openMember: string | undefined = undefined;
  readonly #list: RequestInFlight[];
  #index: number;

  constructor(list: RequestInFlight[], server: Server, request: IncomingMessage, response: ServerResponse | undefined) {
    this.server = server;
    this.request = request;
    this.response = response;
    this.#list = list;
    this.#index = list.push(this) - 1;
  }

  /** Whether it has closed: what is counted for it from then on is never undone. */
  get over(): boolean {
    return this.#index === -1;
  }

  /** Leaves the list, where the last request takes its place, and runs the end steps. */
  closed(): void {
    // A response that was cut off before its turn would block its connection when its turn comes.
    if (this.response?.writableFinished === false) this.request.socket.destroy();
    const last = this.#list.pop();
    if (last !== undefined && last !== this) {
      this.#list[this.#index] = last;
      last.#index = this.#index;
    }
    this.#index = -1;
    for (const step of this.endSteps) step(this);
  }
}

const REQUEST = Symbol('the request in flight');

type Tracked = ServerResponse & { [REQUEST]?: RequestInFlight };

/** The request that a response is for. Throws for a response of a listener that does not add its requests: a bug. */
export function requestOf(response: ServerResponse): RequestInFlight {
  const request = (response as Tracked)[REQUEST];
  if (request === undefined) throw new Error('The request of this response was not added to those in flight.');
  return request;
}

/** Requests in flight. */
export interface RequestList {
  /** In no particular order. Requests may leave the list only after the caller's turn of the event loop. */
  readonly all: readonly RequestInFlight[];
}

/**
 * The one list of the requests in flight in a process, on all listeners. It is an array in which each request knows its
 * index. A `Set` of objects that live as long as a request is slow: V8 moves its outgrown tables to the old generation
 * one after the other, and each keeps requests alive that are long over.
 */
export class RequestsInFlight implements RequestList {
  readonly #all: RequestInFlight[] = [];

  get all(): readonly RequestInFlight[] {
    return this.#all;
  }

  /** Those of one gate of many. */
  of(gate: object): RequestList {
    const all = this.#all;
    return {
      get all() {
        return all.filter((request) => request.gate === gate);
      },
    };
  }

  /** Adds a request until its response closes. `requestOf` finds it. */
  begin(server: Server, request: IncomingMessage, response: ServerResponse): void {
    const begun = new RequestInFlight(this.#all, server, request, response);
    (response as Tracked)[REQUEST] = begun;
    whenClosed(response, begun);
    // Node may go on parsing what a client has sent ahead on a connection that is closed by now, and then never closes
    // the response.
    if (!request.socket.closed) return;
    response.destroy();
    process.nextTick(() => begun.over || response.emit('close'));
  }

  /**
   * Closes a connection on which requests still wait for their responses when a CONNECT or an upgrade takes it over: from
   * then on Node would close only the response whose turn it is, and forget those behind it. Returns whether there were any.
   */
  endWaiting(connection: Duplex): boolean {
    const waiting = this.#all.filter(({ request }) => request.socket === connection);
    for (const { response } of waiting) response?.destroy();
    return waiting.length > 0;
  }

  /** Adds an upgrade until its socket closes; undefined if the socket is closed, or is closed here: see `endWaiting`. */
  beginUpgrade(server: Server, request: IncomingMessage, socket: Duplex): RequestInFlight | undefined {
    if (this.endWaiting(socket) || socket.destroyed) return undefined;
    const begun = new RequestInFlight(this.#all, server, request, undefined);
    whenClosed(socket, begun);
    return begun;
  }
}
