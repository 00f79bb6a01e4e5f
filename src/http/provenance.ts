import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type ForwardingField, followBack } from './client-address.ts';
import { activeTraceparent, addsTraceFields } from './open-telemetry.ts';
import { continuedTraceparent, isTraceparent, isTracestate, newTraceparent, traceIdOf } from './trace-context.ts';
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
  /** W3C Trace Context: the trace of a trusted proxy, or of an OpenTelemetry in this process; else a new one. */
  traceId(): string;
  /**
   * What tells an upstream of it, names and values in turn: traceparent, where this request is the parent, and the
   * tracestate of a trace that was taken over. Empty when an OpenTelemetry in this process adds its own.
   */
  traceFields(): readonly string[];
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
    return {
      clientAddress: client,
      hops,
      trusted: true,
      requestId: typeof given === 'string' && /^[\w.~+/=:@-]{1,128}$/.test(given) ? given : randomUUID(),
      ...trace(parent, one(tracestate)),
    };
  };
}

function stranger(address: string): Provenance {
  return {
    clientAddress: address,
    hops: address,
    trusted: false,
    requestId: randomUUID(),
    ...trace(undefined, undefined),
  };
}

/** Not every request is sent on or told of, so a trace is begun when it is first asked for. */
function trace(parent: string | undefined, state: string | undefined): Pick<Provenance, 'traceId' | 'traceFields'> {
  const active = activeTraceparent();
  let made: string | undefined;
  const traceparent = () => {
    made ??= active ?? (parent === undefined ? newTraceparent() : continuedTraceparent(parent));
    return made;
  };
  return {
    traceId: () => traceIdOf(traceparent()),
    traceFields() {
      if (active !== undefined && addsTraceFields()) return NO_FIELDS;
      const fields = ['traceparent', traceparent()];
      return parent !== undefined && state !== undefined && isTracestate(state)
        ? [...fields, 'tracestate', state]
        : fields;
    },
  };
}

const NO_FIELDS: readonly string[] = [];

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
