import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { currentRequest } from '../http/current-request.ts';
import type { Exchange } from '../http/exchange.ts';

/** The body of a request to oidc-provider. */
export interface PassedBody {
  readonly type: string;
  readonly text: string;
  /** Header fields that oidc-provider is not shown. */
  readonly withheld?: readonly string[];
}

interface PassOnOptions {
  /** oidc-provider's request handler. */
  readonly callback: () => ReturnType<Provider['callback']>;
  /** What oidc-provider builds URLs with. */
  readonly origin: string;
}

/** Lets oidc-provider answer. Throws the GatewayError that stopped it, and records the OAuth error of its answer. */
export async function passOn(
  { callback, origin }: PassOnOptions,
  { request, response, record }: Exchange,
  url: string,
  body?: PassedBody,
): Promise<void> {
  await callback()(asProviderReadsIt(request, origin, url, body), response as ServerResponse);
  const { failure, oauthError } = currentRequest() ?? {};
  if (failure !== undefined) throw failure;
  if (oauthError !== undefined) record.refusedWith(oauthError);
}

/**
 * The same request with another URL and body. The library builds every URL from the host fields, so they are pinned to
 * an origin regardless of what the client sent.
 */
function asProviderReadsIt(request: IncomingMessage, origin: string, url: string, body?: PassedBody): IncomingMessage {
  const { host, protocol } = new URL(origin);
  const { 'transfer-encoding': _framing, 'content-length': _length, ...sent } = request.headers;
  const pinned = { host, 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) };
  const bytes = body && Buffer.from(body.text);
  const hidden = Object.fromEntries((body?.withheld ?? []).map((name) => [name, undefined]));
  const framing = bytes && { 'content-type': body.type, 'content-length': String(bytes.length) };
  return Object.create(request, {
    url: { value: url, writable: true },
    headers: { value: { ...sent, ...pinned, ...framing, ...hidden } },
    readable: { value: bytes !== undefined },
    iterator: { value: () => [bytes] },
  }) as IncomingMessage;
}
