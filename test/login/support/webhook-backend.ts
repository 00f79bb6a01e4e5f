import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';

export const WEBHOOK_SECRET = 'a secret of the webhook, 32 characters';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const hmac = (lines: readonly string[], secret: string) =>
  createHmac('sha256', secret).update(lines.join('\n')).digest('hex');

/** A response of the backend, and what its signature covers: by default, what is really sent. */
export interface WebhookAnswer {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly secret?: string;
  readonly signedNonce?: string;
  readonly signedStatus?: number;
  readonly signedBody?: string;
  /** The whole header field; null omits it. */
  readonly signature?: string | null;
  /** Transforms the correct signature into the header field. */
  readonly around?: (signature: string) => string;
}

interface Asked {
  readonly username: string;
  readonly password: string;
  readonly address: string;
}

export interface WebhookBackend extends Pick<RecordingUpstream, 'url' | 'requests' | 'last' | 'close'> {
  /** Sets how the backend responds from now on. */
  says(answer: (asked: Asked, nonce: string) => WebhookAnswer | Promise<WebhookAnswer> | 'hang' | 'hang up'): void;
  readonly nonces: readonly string[];
}

/** Reads requests exactly as the documentation says, and responds with 400 when the signature is wrong. */
export async function startWebhookBackend(): Promise<WebhookBackend> {
  const nonces: string[] = [];
  const backend = await startRecordingUpstream();
  const says: WebhookBackend['says'] = (answer) =>
    backend.script(async (request, response, recorded) => {
      await recorded.whole;
      const field = String(request.headers['coursegate-signature']);
      const [, t = '', n = '', v1] = /^t=(\d{10}),n=([0-9a-f]{32}),v1=([0-9a-f]{64})$/.exec(field) ?? [];
      if (hmac(['coursegate-login-v1', t, n, sha256(recorded.body)], WEBHOOK_SECRET) !== v1) {
        response.writeHead(400).end();
        return;
      }
      nonces.push(n);
      const given = await answer(JSON.parse(recorded.body.toString()) as Asked, n);
      if (given === 'hang up') request.socket.destroy();
      else if (given === 'hang') await once(request.socket, 'close');
      else send(response, n, given);
    });
  return {
    url: backend.url,
    get requests() {
      return backend.requests;
    },
    last: () => backend.last(),
    close: () => backend.close(),
    says,
    nonces,
  };
}

function send(response: ServerResponse, nonce: string, answer: WebhookAnswer): void {
  const { status = 200, body = '{"sub":"1001"}', headers = {}, secret = WEBHOOK_SECRET } = answer;
  const { signedNonce = nonce, signedStatus = status, signedBody = body } = answer;
  const lines = ['coursegate-login-answer-v1', signedNonce, String(signedStatus), sha256(signedBody)];
  const { around = (right) => right } = answer;
  const { signature = around(`v1=${hmac(lines, secret)}`) } = answer;
  response.writeHead(status, { ...headers, ...(signature === null ? {} : { 'coursegate-signature': signature }) });
  response.end(body);
}
