import * as oauth from 'oauth4webapi';
import { ConnectError } from './connect-error.ts';

/** The options every oauth4webapi request of ours is made with. */
export interface Transport {
  readonly [oauth.customFetch]: Send;
  readonly [oauth.allowInsecureRequests]: boolean;
}

/** A fetch as oauth4webapi calls it: redirects are answers, never followed. */
export type Send = (url: string, request: oauth.CustomFetchOptions<string, unknown>) => Promise<Response>;

/** Seconds one request may take. A discovery that needs longer is as good as down. */
const PATIENCE = 10;

/** Whether a URL's host name stands for this very machine (RFC 8252 §8.3, RFC 6761 §6.3). */
function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/**
 * The origin of a gate's address. In: what a person typed; `school.example` means https, a loopback name means http.
 * Throws ConnectError when it is no web address, or when it is plain http to another machine, where anyone on the way
 * could read the tokens.
 */
export function gateOrigin(typed: string): string {
  const text = typed.trim();
  const bare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const host = /^(\[[^\]]*\]|[^:/?#]*)/.exec(text)?.[0] ?? '';
  const url = URL.parse(bare ? `${isLoopback(host) ? 'http' : 'https'}://${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConnectError(
      `"${typed}" is not a web address.`,
      'Give the origin of the site, such as https://school.example.',
    );
  }
  requireSafe(url);
  return url.origin;
}

/** Throws ConnectError unless requests to `url` stay secret: https, or http that never leaves this machine. */
export function requireSafe(url: URL): void {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return;
  throw new ConnectError(
    `${url.origin} is not https, so tokens sent to it could be read on the way.`,
    'Use the https address; plain http is only for localhost.',
  );
}

/**
 * How requests to the gate at `origin` are sent. In: a signal that ends them early, and a wrapper that may watch them.
 * Metadata may name any URL, so every request is checked again, not only the first.
 */
export function transport(
  origin: string,
  options: { signal?: AbortSignal; watch?: (send: Send) => Send } = {},
): Transport {
  const send: Send = async (url, request) => {
    requireSafe(new URL(url));
    const late = AbortSignal.timeout(PATIENCE * 1000);
    const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
    return fetch(url, { ...(request as RequestInit), signal });
  };
  return {
    [oauth.customFetch]: options.watch?.(send) ?? send,
    [oauth.allowInsecureRequests]: origin.startsWith('http:'),
  };
}
