import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { BRIDGE_SECRET, pack, sign } from '../../support/bridge-backend.ts';
import { WEBHOOK_SECRET } from './webhook-backend.ts';

/** A member of the site, who signs in with the ID as the user name. */
export interface Account {
  readonly id: string;
  password: string;
  state: 'active' | 'suspended' | 'deleted';
}

export interface CutOffSite {
  readonly url: string;
  readonly accounts: Map<string, Account>;
  /** The ID of the member whose browser follows redirects to the site. */
  visitor: string;
  close(): Promise<void>;
}

const sha256 = (of: string) => createHash('sha256').update(of).digest('hex');

interface Asked {
  readonly url: URL;
  readonly cookie: string;
  readonly signature: string;
  readonly body: string;
}

interface Said {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/**
 * A course site that can be asked by every kind of login: `/me` for a session, `/enter` is its form, `/check` its
 * webhook, `/sso` its bridge, and `/members/ID` says whether a member still exists. Members who are not active cannot
 * sign in.
 */
export async function startCutOffSite(): Promise<CutOffSite> {
  const accounts: CutOffSite['accounts'] = new Map();
  const site: CutOffSite = { url: '', accounts, visitor: '', close: async () => {} };
  const active = (id: string) => {
    const found = accounts.get(id);
    return found?.state === 'active' ? found : undefined;
  };
  const epochOf = ({ password }: Account) => sha256(password);
  const checked = (id: string, password: string) => {
    const found = active(id);
    return found?.password === password ? found : undefined;
  };

  const pages: Readonly<Record<string, (asked: Asked) => Said>> = {
    '/me': ({ cookie }) => {
      const found = active(/who=([\w-]+)/.exec(cookie)?.[1] ?? '');
      return found === undefined ? { status: 401 } : json({ id: found.id, epoch: epochOf(found) });
    },
    '/enter': ({ body }) => {
      const form = new URLSearchParams(body);
      const found = checked(form.get('username') ?? '', form.get('password') ?? '');
      if (found === undefined) return { status: 401 };
      return { status: 302, headers: { location: '/home', 'set-cookie': `who=${found.id}` } };
    },
    '/check': ({ body, signature }) => {
      const { username, password } = JSON.parse(body) as { username: string; password: string };
      const found = checked(username, password);
      const status = found === undefined ? 401 : 200;
      const answer = found === undefined ? '{}' : JSON.stringify({ sub: found.id, version: epochOf(found) });
      const nonce = /n=(\w+)/.exec(signature)?.[1] ?? '';
      const lines = ['coursegate-login-answer-v1', nonce, String(status), sha256(answer)];
      const v1 = createHmac('sha256', WEBHOOK_SECRET).update(lines.join('\n')).digest('hex');
      return { status, headers: { 'coursegate-signature': `v1=${v1}` }, body: answer };
    },
    '/sso': ({ url }) => {
      const asked = new URLSearchParams(Buffer.from(url.searchParams.get('sso') ?? '', 'base64').toString());
      const found = active(site.visitor);
      const who = found === undefined ? { failed: 'true' } : { external_id: found.id, version: epochOf(found) };
      const answer = pack({ nonce: asked.get('nonce') ?? '', ...who } as Record<string, string>);
      const back = new URL(asked.get('return_sso_url') ?? '');
      back.searchParams.set('sso', answer);
      back.searchParams.set('sig', sign(answer, BRIDGE_SECRET));
      return { status: 302, headers: { location: back.href } };
    },
    '/members': ({ url }) => {
      const found = accounts.get(url.pathname.split('/')[2] ?? '');
      if (found === undefined || found.state === 'deleted') return { status: 404 };
      return json({ active: found.state === 'active', epoch: epochOf(found) });
    },
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://school.test');
    const page = pages[`/${url.pathname.split('/')[1]}`];
    const signature = String(request.headers['coursegate-signature'] ?? '');
    const asked = { url, cookie: request.headers.cookie ?? '', signature, body: await text(request) };
    const { status, headers = {}, body = '' } = page?.(asked) ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(site, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

function json(value: unknown): Said {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
