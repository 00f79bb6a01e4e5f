import { GatewayError } from '../errors.ts';
import { asFetchResponse, boundedExchange } from '../http/bounded-client.ts';
import { isLoopbackHost } from '../http/host.ts';

/** Bytes. Far more than any real metadata, key set or token response has. */
const LONGEST = 1024 * 1024;

/** Whether a URL is safe to use: https, or plain http on loopback, where no one can intercept it. */
export function isSafeUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url));
}

interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type OutboundFetch = (url: string, request?: OutboundRequest) => Promise<Response>;

export interface OutboundFetchOptions {
  /** Seconds for the whole call, up to the last byte of the body. */
  readonly timeout: number;
  /** Whether http on loopback is allowed: only if the operator configured such a URL, never because a response has one. */
  readonly loopback: boolean;
}

/**
 * `fetch` for calls to identity providers: https only, no redirects, at most 1 MiB of response, and a time limit.
 *
 * @throws {GatewayError} `login_unavailable` whenever there is no complete response
 */
export function outboundFetch({ timeout, loopback }: OutboundFetchOptions): OutboundFetch {
  return async (url, { method = 'GET', headers = {}, body = null, signal: given } = {}) => {
    const target = new URL(url);
    if (!isSafeUrl(target) || (target.protocol === 'http:' && !loopback)) throw unavailable(`${url} is not https`);
    const deadline = AbortSignal.timeout(timeout * 1000);
    const signal = given === undefined ? deadline : AbortSignal.any([given, deadline]);
    try {
      const answer = await boundedExchange(target, {
        method,
        headers,
        body: body?.toString(),
        signal,
        longest: LONGEST,
      });
      if (answer.cut) throw unavailable(`${target.origin} returned more than ${LONGEST} bytes`);
      return asFetchResponse(target, answer);
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      throw unavailable(`${target.origin} did not respond`, thrown);
    }
  };
}

/** Sign-in is unavailable. `why` is for the log. */
export function unavailable(why: string, cause?: unknown): GatewayError {
  return new GatewayError('login_unavailable', { cause: new Error(why, { cause }) });
}
