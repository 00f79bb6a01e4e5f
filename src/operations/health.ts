import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeAnswer } from '../http/answer.ts';

export interface HealthOptions {
  /** Throws when the store cannot be read. */
  readonly probeStore: () => Promise<unknown>;
  readonly draining: () => boolean;
}

/**
 * The admin listener: `/livez` says that the process runs, `/readyz` that it may be sent requests (store reachable, not
 * draining). The upstream is not asked: a slow backend must not take the sign-in away.
 */
export function healthHandler(options: HealthOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/livez' && path !== '/readyz') return say(response, 404, 'not found');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return say(response, 405, 'method not allowed', { allow: 'GET, HEAD' });
    if (path === '/livez') return say(response, 200, 'ok');
    if (options.draining()) return say(response, 503, 'draining');
    const ready = await options.probeStore().then(
      () => true,
      () => false,
    );
    return ready ? say(response, 200, 'ok') : say(response, 503, 'the store cannot be read');
  };
}

function say(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  writeAnswer(response, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: `${text}\n`,
  });
}
