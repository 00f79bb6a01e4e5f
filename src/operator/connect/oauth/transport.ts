import * as oauth from 'oauth4webapi';
import { asFetchResponse, boundedExchange } from '../../../http/bounded-client.ts';
import { DOCUMENT_BOUNDS, jsonExcess } from '../../../http/bounded-json.ts';
import { type ConnectEnd, ConnectError, NoResponse } from '../connect-error.ts';

/** Options for every oauth4webapi request. */
export type Transport = ReturnType<typeof transport>;

/** fetch as oauth4webapi calls it. Redirects are returned, never followed. */
export type SendRequest = (url: string, request: oauth.CustomFetchOptions<string, unknown>) => Promise<Response>;

/** Seconds for one request, to the last byte of its response. */
const PATIENCE = 10;
/** Bytes. No document that a site describes itself with should be longer. */
const LONGEST = 8 * 1024 * 1024;

/** Whether a host name refers to this machine (RFC 8252 section 8.3, RFC 6761 section 6.3). */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** An address as typed: without a scheme, `school.example` means https, and a loopback name http. Null if not a URL. */
export function typedUrl(typed: string): URL | null {
  const text = typed.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.parse(text);
  const host = /^(\[[^\]]*\]|[^:/?#]*)/.exec(text)?.[0] ?? '';
  return URL.parse(`${isLoopback(host) ? 'http' : 'https'}://${text}`);
}

/**
 * The origin of an address as typed. Throws ConnectError for anything but a web address, and for plain http to another
 * machine, which would expose tokens.
 */
export function gateOrigin(typed: string): string {
  const url = typedUrl(typed);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConnectError(
      `"${typed}" is not a web address.`,
      'Enter the origin of the site, such as https://school.example.',
      { end: 'misused' },
    );
  requireSafe(url, 'misused');
  return url.origin;
}

/** Throws ConnectError unless `url` is https, or http to this machine. */
export function requireSafe(url: URL, end: ConnectEnd = 'failed'): void {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return;
  throw new ConnectError(
    `${url.origin} is not https, so tokens sent to it could be intercepted.`,
    'Use the https address; plain http is only allowed for localhost.',
    { end },
  );
}

/**
 * The transport for requests to the gate at `origin`. `signal` aborts them, and `watch` can wrap each one. Every
 * request goes through `requireSafe`, since metadata may name any URL.
 */
export function transport(
  origin: string,
  options: { signal?: AbortSignal | undefined; watch?: (send: SendRequest) => SendRequest } = {},
) {
  const send: SendRequest = async (url, { method, headers, body }) => {
    const target = new URL(url);
    requireSafe(target);
    const late = AbortSignal.timeout(PATIENCE * 1000);
    const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
    const sent = (body as string | URLSearchParams | undefined)?.toString();
    const request = { method, headers, body: sent, signal, longest: LONGEST };
    const answer = await boundedExchange(target, request).catch((thrown: unknown) => {
      throw signal.aborted ? thrown : new NoResponse(thrown);
    });
    if (answer.cut) throw tooMuch(url, 'answered with more than 8 MiB');
    // JSON that takes too much to parse, or to iterate over.
    const isJson = /\bjson\b/i.test(answer.headers['content-type'] ?? '');
    const excess = isJson ? jsonExcess(answer.body.toString('utf8'), DOCUMENT_BOUNDS) : undefined;
    if (excess !== undefined) throw tooMuch(url, `answered with JSON that ${excess.message}`);
    return asFetchResponse(target, answer);
  };
  return {
    [oauth.customFetch]: options.watch?.(send) ?? send,
    [oauth.allowInsecureRequests]: origin.startsWith('http:'),
  };
}

function tooMuch(url: string, what: string): ConnectError {
  return new ConnectError(`${url} ${what}.`, 'Check that this is the address of a site behind coursegate.');
}

/** Fetches a public document. A redirect is returned, not followed. */
export function requestPublic(url: URL, http: Transport): Promise<Response> {
  const headers = { accept: 'application/json' };
  return http[oauth.customFetch](url.href, { method: 'GET', headers, redirect: 'manual', body: undefined });
}
