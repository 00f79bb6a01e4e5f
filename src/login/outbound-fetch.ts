import { GatewayError } from '../errors.ts';

/** Nobody's metadata, keys or tokens are as long. */
const LONGEST = 1024 * 1024;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL may be spoken to: https, or plain http on this machine, where nobody stands in between. */
export function isSafeUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}

interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type OutboundFetch = (url: string, request?: OutboundRequest) => Promise<Response>;

export interface OutboundFetchOptions {
  /** Seconds for all of it, to the last byte of the body. */
  readonly timeout: number;
  /** Whether to speak http to this machine: only when the operator named such a URL; never because an answer does. */
  readonly loopback: boolean;
}

/**
 * `fetch` for what signs members in elsewhere: https, no redirect followed, at most 1 MiB of answer, and all of it in time.
 * Throws GatewayError `login_unavailable` for whatever keeps an answer from being had.
 */
export function outboundFetch({ timeout, loopback }: OutboundFetchOptions): OutboundFetch {
  return async (url, { method = 'GET', headers = {}, body = null, signal: given } = {}) => {
    const target = new URL(url);
    if (!isSafeUrl(target) || (target.protocol === 'http:' && !loopback)) throw unavailable(`${url} is not https`);
    const deadline = AbortSignal.timeout(timeout * 1000);
    const signal = given === undefined ? deadline : AbortSignal.any([given, deadline]);
    try {
      const response = await fetch(target, { method, headers, body, redirect: 'manual', signal });
      const read = await readAll(response, target);
      const { status } = response;
      return new Response(status === 204 || status === 304 ? null : read, { status, headers: response.headers });
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      throw unavailable(`${target.origin} gave no answer`, thrown);
    }
  };
}

async function readAll(response: Response, { origin }: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of response.body ?? []) {
    received += chunk.length;
    if (received > LONGEST) throw unavailable(`${origin} answered with more than ${LONGEST} bytes`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

/** In: why, for the log. */
export function unavailable(why: string, cause?: unknown): GatewayError {
  return new GatewayError('login_unavailable', { cause: new Error(why, { cause }) });
}
