// HTTP basics for the whole gate: checks of messages and connections, the client's address and trace, which header
// fields may pass, cookies, bounded bodies and JSON, and the record of each request for logs and metrics.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOver } from '../oauth/challenge.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Provenance } from './provenance.ts';
import type { RequestRecord } from './request-record.ts';

/** A request that was routed and admitted, as its handler receives it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The canonical path that was authorized, and the query as sent ('' or '?…'). */
  readonly target: { readonly path: string; readonly query: string };
  readonly principal: Principal;
  /** Where the request came from: the client's address, and whether a trusted proxy connected. */
  readonly provenance: Provenance;
  /** Collects data about the request for the access log and the metrics. */
  readonly record: RequestRecord;
  /**
   * Alternating names and values that are part of every response. Only handlers that relay a response send them; for
   * all others they are already set on the response. Node writes fields that are passed as one list several times
   * faster than fields that are set one by one.
   */
  readonly ownFields: readonly string[];
  /**
   * Whether the same principal is also admitted with another method at the same path, with the same treatment, so that
   * a parameter such as `_method` may ask for it. Omitted: no other method.
   */
  readonly admits?: ((method: string) => boolean) | undefined;
  /** The body and fields to send on instead of the request's own; undefined: send the request's own. */
  readonly replacement?: ReplacedRequest | undefined;
}

export interface ReplacedRequest {
  readonly body: Buffer;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
}

/**
 * Responds to an exchange, or returns that the member's session is over, having written nothing. Errors that it throws
 * are rendered in the format of its route.
 */
export type Handler = (exchange: Exchange) => Promise<SessionOver | undefined> | Promise<void> | void;
