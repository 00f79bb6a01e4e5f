import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { followBack, type NetworkPath } from './client-address.ts';
import { activeTraceparent, addsTraceFields } from './open-telemetry.ts';
import {
  continuedTraceparent,
  isTraceparent,
  isTracestate,
  newTraceparent,
  randomHex,
  traceIdOf,
} from './trace-context.ts';
import { canonicalAddress, trustedProxies } from './trusted-proxies.ts';

/** Where a request came from, and its ids in logs and traces. Determined once, when the request arrives. */
export interface Provenance {
  /** The client's canonical address; '' if the connection was closed before the address could be read. */
  readonly clientAddress: string;
  /** The client and the trusted proxies between it and us, in the format of X-Forwarded-For. */
  readonly hops: string;
  /** Whether a trusted proxy connected. Only then is anything that it says about the request believed. */
  readonly trusted: boolean;
  /** Used in the log, on error pages, and in X-Request-Id in both directions. */
  readonly requestId: string;
  /** W3C Trace Context: the trace of a trusted proxy or of an OpenTelemetry in this process, else a new one. */
  traceId(): string;
  /**
   * The trace fields for an upstream, as alternating names and values: traceparent, with this request as the parent,
   * and the tracestate of a continued trace. Empty if an OpenTelemetry in this process adds its own.
   */
  traceFields(): readonly string[];
}

export type ProvenanceOf = (request: IncomingMessage) => Provenance;

/**
 * Creates the only reader of what proxies say about a request. Nothing is believed from anyone but the trusted proxies.
 * @param options.trustedProxies in the format of `trustedProxies`
 * @param options.onlyProxies whether nothing but trusted proxies can connect, such as over a Unix socket
 */
export function createProvenance(options: { trustedProxies: readonly string[]; onlyProxies?: boolean }): ProvenanceOf {
  const { onlyProxies = false } = options;
  const isListed = trustedProxies(options.trustedProxies);

  return (request) => {
    const connected = canonicalAddress(request.socket.remoteAddress ?? (onlyProxies ? LOOPBACK : ''));
    const isTrusted = onlyProxies ? (address: string) => address === connected || isListed(address) : isListed;
    const trusted = connected !== '' && isTrusted(connected);
    const { 'x-forwarded-for': via, 'x-request-id': given, traceparent, tracestate } = trusted ? request.headers : NONE;
    const path = followBack(connected, one(via), isTrusted);
    const requestId = typeof given === 'string' && /^[\w.~+/=:@-]{1,128}$/.test(given) ? given : randomUuid();
    // Node joins two traceparents with a comma, which makes them invalid.
    const parent = typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent : undefined;
    return new RequestProvenance(path, trusted, requestId, parent, one(tracestate));
  };
}

/** Not every request is forwarded or logged, so a trace is only created when it is first needed. */
class RequestProvenance implements Provenance {
  readonly clientAddress: string;
  readonly hops: string;
  readonly trusted: boolean;
  readonly requestId: string;
  readonly #active = activeTraceparent();
  readonly #parent: string | undefined;
  readonly #state: string | undefined;
  #made: string | undefined;

  constructor(
    path: NetworkPath,
    trusted: boolean,
    requestId: string,
    parent: string | undefined,
    state: string | undefined,
  ) {
    this.clientAddress = path.client;
    this.hops = path.hops;
    this.trusted = trusted;
    this.requestId = requestId;
    this.#parent = parent;
    this.#state = state;
  }

  traceId(): string {
    return traceIdOf(this.#traceparent());
  }

  traceFields(): readonly string[] {
    if (this.#active !== undefined && addsTraceFields()) return NO_FIELDS;
    const fields = ['traceparent', this.#traceparent()];
    if (this.#parent !== undefined && this.#state !== undefined && isTracestate(this.#state))
      fields.push('tracestate', this.#state);
    return fields;
  }

  #traceparent(): string {
    this.#made ??= this.#active ?? (this.#parent === undefined ? newTraceparent() : continuedTraceparent(this.#parent));
    return this.#made;
  }
}

/** RFC 9562 section 5.4. Its zeros are replaced; the 8 could be any of four digits. */
const UUID = Buffer.from('00000000-0000-4000-8000-000000000000');
const ZEROS = [...UUID.keys()].filter((at) => UUID[at] === 0x30);

/** One string, written in place. That of node:crypto consists of twenty, which live as long as it does. */
function randomUuid(): string {
  const digits = randomHex(ZEROS.length / 2);
  for (let at = 0; at < digits.length; at += 1) UUID[ZEROS[at] as number] = digits.charCodeAt(at);
  return UUID.toString('latin1');
}

/** The other end of a Unix socket has no address, but it is on this machine. */
const LOOPBACK = '127.0.0.1';
const NO_FIELDS: readonly string[] = [];
const NONE: IncomingHttpHeaders = {};

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
