import type { SendRequest } from '../../connect/oauth/transport.ts';

/** A recorded request and response, with secrets. They are masked when displayed. */
export interface WireRecord {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
  answer?: Answer;
}

interface Answer extends Pick<WireRecord, 'headers' | 'body'> {
  readonly status: number;
  readonly statusText: string;
  readonly milliseconds: number;
}

/** The response headers that matter for OAuth. Others would only distract. */
const TELLING = ['content-type', 'cache-control', 'www-authenticate', 'location', 'retry-after', 'allow'];
const LONGEST_BODY = 32_768;

/** Wraps a fetch to record every request in `exchanges`. `answer` stays undefined for a request without a response. */
export function recording(exchanges: WireRecord[]): (send: SendRequest) => SendRequest {
  return (send) => async (url, request) => {
    const { body } = request;
    const exchange: WireRecord = {
      method: request.method,
      url,
      headers: Object.entries(request.headers),
      body: typeof body === 'string' || body instanceof URLSearchParams ? String(body) : undefined,
    };
    exchanges.push(exchange);
    const begin = performance.now();
    const response = await send(url, request);
    const text = await response.clone().text();
    exchange.answer = {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers].filter(([name]) => TELLING.includes(name)),
      body: text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}…` : text,
      milliseconds: Math.round(performance.now() - begin),
    };
    return response;
  };
}
