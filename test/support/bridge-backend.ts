import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const BRIDGE_SECRET = 'a secret that the backend and the gate share';

export interface BridgeBackend {
  readonly url: string;
  /** Overrides for the member fields that the bridge returns. */
  says: Record<string, string>;
  /** The last request to the bridge, decoded. */
  asked: URLSearchParams | undefined;
  close(): Promise<void>;
}

export const sign = (sso: string, secret = BRIDGE_SECRET) => createHmac('sha256', secret).update(sso).digest('hex');

export const pack = (fields: Record<string, string>) =>
  Buffer.from(new URLSearchParams(fields).toString()).toString('base64');

/** A course site with its own login page and the bridge of about twenty lines, on a free port. */
export async function startBridgeBackend(): Promise<BridgeBackend> {
  const backend: BridgeBackend = { url: '', says: {}, asked: undefined, close: async () => {} };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://school.test');
    const member = /school=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
    const send = (status: number, headers: Record<string, string>, body = '') =>
      response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
    if (url.pathname === '/enter') {
      const next = url.searchParams.get('next') ?? '/';
      return send(302, { 'set-cookie': 'school=sam; Path=/; HttpOnly', location: next });
    }
    const sso = url.searchParams.get('sso') ?? '';
    const sig = url.searchParams.get('sig') ?? '';
    const expected = Buffer.from(sign(sso));
    if (sig.length !== expected.length || !timingSafeEqual(Buffer.from(sig), expected)) return send(403, {}, 'no');
    if (member === undefined) {
      const next = encodeURIComponent(request.url ?? '/');
      return send(200, {}, `<form id="school-login" action="/enter?next=${next}" method="post"></form>`);
    }
    const asked = new URLSearchParams(Buffer.from(sso, 'base64').toString());
    backend.asked = asked;
    const answer = pack({
      nonce: asked.get('nonce') ?? '',
      external_id: '1001',
      email: 'sam@school.test',
      username: 'sam',
      email_verified: 'false',
      name: 'Sam Student',
      ...backend.says,
    });
    const back = new URL(asked.get('return_sso_url') ?? '');
    back.searchParams.set('sso', answer);
    back.searchParams.set('sig', sign(answer));
    send(302, { location: back.href });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(backend, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}
