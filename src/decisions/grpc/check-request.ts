import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { separateCredentials } from '../joined-credentials.ts';

/** What is read of an envoy.service.auth.v3.CheckRequest. Anything may be missing. */
export interface CheckRequest {
  readonly attributes?: {
    readonly source?: Peer | null;
    readonly request?: { readonly http?: HttpRequest | null } | null;
  } | null;
}

interface Peer {
  readonly address?: { readonly socket_address?: { readonly address?: string } | null } | null;
}

interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  /** Every field on its own, as it was received: `encode_raw_headers`. */
  readonly header_map?: { readonly headers?: readonly HeaderValue[] } | null;
  /** By lower-case name. The values of a repeated field are joined with commas. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface HeaderValue {
  readonly key?: string;
  readonly value?: string;
  readonly raw_value?: Uint8Array;
}

/**
 * The original request, as node:http would have read it. A message that does not describe one becomes a request that
 * cannot be decided about: it has no method, no target and no Host.
 */
export function requestFrom({ attributes }: CheckRequest): IncomingMessage {
  const http = attributes?.request?.http ?? {};
  // It is never connected: addresses and limits come from what Envoy says.
  const request = new IncomingMessage(new Socket());
  request.httpVersion = '1.1';
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 1;
  request.method = http.method ?? '';
  request.url = http.path ?? '';
  request.rawHeaders = separateCredentials(rawFields(http));
  request.headers = joined(request.rawHeaders, attributes?.source?.address?.socket_address?.address);
  return request;
}

/** Alternating names and values. Host comes first; Envoy's pseudo-header fields (`:path`) are left out. */
function rawFields({ host, header_map, headers = {} }: HttpRequest): string[] {
  const listed = header_map?.headers ?? [];
  const fields = host === undefined ? [] : ['host', host];
  const all: readonly HeaderValue[] =
    listed.length > 0 ? listed : Object.entries(headers).map(([key, value]) => ({ key, value }));
  for (const { key = '', value, raw_value } of all)
    if (!key.startsWith(':')) fields.push(key, Buffer.from(value || (raw_value ?? '')).toString('latin1'));
  return fields;
}

/**
 * The fields by lower-case name.
 * @param from the address that connected to Envoy, which belongs at the end of X-Forwarded-For if Envoy has not added it
 */
function joined(raw: readonly string[], from: string | undefined): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    const value = raw[at + 1] as string;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const via = headers['x-forwarded-for'];
  if (from !== undefined && from !== '' && via?.split(',').at(-1)?.trim() !== from)
    headers['x-forwarded-for'] = via === undefined ? from : `${via}, ${from}`;
  return headers;
}
