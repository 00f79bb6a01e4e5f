import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../oauth/principal.ts';
import type { Provenance } from './provenance.ts';
import type { RequestRecord } from './request-record.ts';

/** One request that was routed and admitted, on its way to the handler that answers it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The canonical path that was judged, and the query as sent ('' or '?…'). */
  readonly target: { readonly path: string; readonly query: string };
  readonly principal: Principal;
  /** Where the request came from: the client's address, and whether a trusted proxy vouches for it. */
  readonly provenance: Provenance;
  /** What is told of the request when it is over. */
  readonly record: RequestRecord;
  /**
   * Names and values in turn, which the answer has whatever else is in it. Only who relays an answer sends them: for all
   * others they are set on the response. Node writes fields given as one list several times faster than fields set one
   * by one.
   */
  readonly ownFields: readonly string[];
  /**
   * Whether another method at the same path is admitted for the same principal and treated alike, so that a parameter
   * such as `_method` may ask for it. Left out: none is.
   */
  readonly admits?: ((method: string) => boolean) | undefined;
  /** What is sent on in place of the request's own body and fields; undefined: those, as they come. */
  readonly replacement?: Replacement | undefined;
}

export interface Replacement {
  readonly body: Buffer;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

/** Answers an exchange. What it throws is rendered in the voice of its route. */
export type Handler = (exchange: Exchange) => Promise<void> | void;
