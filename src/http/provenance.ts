import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type ForwardingField, followBack } from './client-address.ts';
import { isTraceparent, isTracestate, newTraceparent } from './trace-context.ts';
import { canonicalAddress, trustedProxies } from './trusted-proxies.ts';

/** Where a request came from, and the names under which it is told of. Decided once, at the door. */
export interface Provenance {
  /** The client's address, canonical; '' when the connection was gone before it could be asked. */
  readonly clientAddress: string;
  /** The client and the trusted proxies between it and us, as X-Forwarded-For tells them. */
  readonly hops: string;
  /** Whether a trusted proxy connected: only then is anything believed of what it says of the request. */
  readonly trusted: boolean;
  /** In the log, on error pages, in X-Request-Id both ways. */
  readonly requestId: string;
  /** W3C Trace Context: that of a trusted proxy, else a new trace. */
  traceparent(): string;
  /** What goes with a traceparent that was taken over; else undefined. */
  readonly tracestate: string | undefined;
}

export type ProvenanceOf = (request: IncomingMessage) => Provenance;

/**
 * Makes the one reader of what proxies say of a request. In: the proxies that are believed, as `trustedProxies` takes
 * them, and the field in which they name the client. From everyone else nothing is believed.
 */
export function createProvenance(options: {
  trustedProxies: readonly string[];
  forwardingField: ForwardingField;
}): ProvenanceOf {
  const isTrusted = trustedProxies(options.trustedProxies);
  const field = options.forwardingField;
  const name = field.toLowerCase();

  return (request) => {
    const connected = canonicalAddress(request.socket.remoteAddress ?? '');
    if (connected === '' || !isTrusted(connected)) return stranger(connected);
    const { client, hops } = followBack(connected, one(request.headers[name]), isTrusted, field);
    const { 'x-request-id': given, traceparent, tracestate } = request.headers;
    // Two traceparents come to us joined by a comma, and are none.
    const parent = typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent : undefined;
    const state = parent === undefined ? undefined : one(tracestate);
    return {
      clientAddress: client,
      hops,
      trusted: true,
      requestId: typeof given === 'string' && /^[\w.~+/=:@-]{1,128}$/.test(given) ? given : randomUUID(),
      traceparent: parent === undefined ? remembered(newTraceparent) : () => parent,
      tracestate: state !== undefined && isTracestate(state) ? state : undefined,
    };
  };
}

function stranger(address: string): Provenance {
  return {
    clientAddress: address,
    hops: address,
    trusted: false,
    requestId: randomUUID(),
    traceparent: remembered(newTraceparent),
    tracestate: undefined,
  };
}

/** Not every request is sent on, so a trace is begun when it is first asked for. */
function remembered(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
