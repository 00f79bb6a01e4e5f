import { decodeJwt } from 'jose';
import { type StrictAnswer, type StrictRequest, valuesOf } from '../../support/strict-http.ts';

/** Fields of an answer that apps act on. */
const OF_ANSWERS = [
  ...['www-authenticate', 'retry-after', 'content-type', 'cache-control', 'allow', 'ratelimit', 'ratelimit-policy'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'set-cookie', 'x-member-id', 'x-request-id'],
];

/** Request fields that the backend need not get alike in both ways. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  connection: 'is about the connection of the sender',
  'keep-alive': 'is about the connection of the sender',
  'content-length': 'is the framing of the body, which is compared',
  'transfer-encoding': 'is the framing of the body, which is compared',
  traceparent: 'is the trace of the gate, which does not send this request',
  forwarded: 'says the same as X-Forwarded-For, -Host and -Proto, which are compared',
  via: 'names the sender',
  'x-envoy-attempt-count': 'is how often Envoy has tried',
  'x-envoy-original-host': 'is the Host of the client, which Envoy has replaced',
  'x-forwarded-server': 'names the sender',
  'accept-encoding': 'some gateways add it when the client sends none',
  'user-agent': 'some gateways add it when the client sends none',
};

const IDS = /^[\w.~+/=:@-]{8,}$/;

/** An answer without what differs from one request to the next. */
export function comparedAnswer({ status, headers, body }: StrictAnswer) {
  const fields = OF_ANSWERS.map((name) => [name, valuesOf(headers, name).map((value) => comparedValue(name, value))]);
  return { status, fields: Object.fromEntries(fields), body: comparedBody(body) };
}

function comparedValue(name: string, value: string): string {
  if (name === 'x-request-id') return IDS.test(value) ? 'an id' : value;
  // Seconds and counts.
  return /^(retry-after|ratelimit)/.test(name) ? value.replaceAll(/\d+/g, 'N') : value;
}

function comparedBody(body: string): unknown {
  try {
    const { request_id: id, trace_id: trace, ...rest } = JSON.parse(body) as Record<string, unknown>;
    return {
      ...rest,
      ...(id === undefined ? {} : { id: 'given' }),
      ...(trace === undefined ? {} : { trace: 'given' }),
    };
  } catch {
    return body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g, 'an id');
  }
}

/**
 * A request as the backend received it.
 * @param client the address that sent it
 * @param besides further fields that are left out
 */
export function comparedRequest(
  { method, target, headers, body }: StrictRequest,
  client: string,
  besides: readonly string[] = [],
) {
  const fields = new Map<string, unknown[]>();
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    if (Object.hasOwn(NOT_COMPARED, name) || besides.includes(name)) continue;
    // An empty identity field says the same as none.
    if (value === '' && /^x-(member-|client-id$|coursegate-)/.test(name)) continue;
    fields.set(name, [...(fields.get(name) ?? []), comparedField(name, value, client)]);
  }
  return { method, target, body, fields: Object.fromEntries([...fields].toSorted(([a], [b]) => a.localeCompare(b))) };
}

/** Claims of an assertion that are not about the member. The one of a decision is also bound to a method and a path. */
const OF_ONE_ASSERTION = ['iat', 'exp', 'jti', 'htm', 'htu', 'client_id', 'grant_id'];

function comparedField(name: string, value: string, client: string): unknown {
  if (name === 'x-request-id' || name === 'x-client-id') return IDS.test(value) ? 'an id' : value;
  if (name !== 'x-coursegate-assertion') {
    // In front of a route that the gate forwards, the gateway is one more hop.
    return value.replaceAll(client, 'CLIENT').replace(/^CLIENT, 127\.0\.0\.1$/, 'CLIENT');
  }
  return Object.fromEntries(Object.entries(decodeJwt(value)).filter(([claim]) => !OF_ONE_ASSERTION.includes(claim)));
}
