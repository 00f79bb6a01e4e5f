import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type App,
  authorizationRequest,
  bearer,
  introspect,
  postForm,
  redeem,
  refresh,
  registerApp,
} from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { COMMAND_SECRET, command } from '../../support/commands.ts';
import { approve, reachConsent } from '../../support/member.ts';
import { startWorld, type World } from '../../support/world.ts';
import { answerJson, type DocumentHost, plainDocument, startDocumentHost } from './support/document-host.ts';
import { KNOWN_DOCUMENTS } from './support/known-documents.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('an app that is known by its document', () => {
  let host: DocumentHost;
  let world: World;
  let dcr: App;

  beforeAll(async () => {
    host = await startDocumentHost();
    world = await startWorld({ profile: 'A', clock: () => Date.now(), documentNetwork: host.network });
    dcr = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await host.close();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Moves the clock forward, for the library too, which reads the system's clock. Timers are not affected. */
  const pass = (milliseconds: number) => {
    const then = Date.now() + milliseconds;
    if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(then);
  };

  const appOf = (clientId: string, redirectUri = `${new URL(clientId).origin}/callback`): App => ({
    ...dcr,
    client: { client_id: clientId },
    redirectUri,
  });
  const publish = (url: string, members: Record<string, unknown> = {}) =>
    host.serve(url, answerJson(plainDocument(url, members)));
  const fetchesOf = (url: string) => host.requests.filter((request) => request.url === url).length;
  const authorize = async (clientId: string) => {
    const { url } = await authorizationRequest(appOf(clientId));
    return createBrowser().open(url);
  };
  const connect = async (app: App) => {
    const request = await authorizationRequest(app);
    return redeem(app, request, await approve(request.url, app.redirectUri));
  };
  const words = (html: string) =>
    html
      .replace(/<[^>]*>/g, ' ')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b/g, 'ID')
      .replace(/\s+/g, ' ');

  it.each(['oauth-authorization-server', 'openid-configuration'])('is announced in %s', async (name) => {
    const metadata = (await (await fetch(`${world.origin}/.well-known/${name}`)).json()) as Record<string, unknown>;
    expect(metadata.client_id_metadata_document_supported).toBe(true);
    expect(metadata.token_endpoint_auth_methods_supported).toContain('none');
  });

  it.each(KNOWN_DOCUMENTS)('$app is approved and gets its tokens', async ({ document, used }) => {
    host.serve(document.client_id, answerJson(document));
    for (const redirectUri of used) {
      const app = appOf(document.client_id, redirectUri);
      const tokens = await connect(app);
      expect(tokens.refresh_token).toBeDefined();
      expect(await introspect(app, tokens.access_token)).toMatchObject({ active: true, client_id: document.client_id });
      expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
    }
    expect(fetchesOf(document.client_id)).toBe(1);
  });

  it('is shown by its name, and reads with its token as any other', async () => {
    const url = 'https://one.example/client.json';
    publish(url, { client_name: 'One of Many' });
    const { page } = await reachConsent((await authorizationRequest(appOf(url))).url);
    expect(page.text).toContain('One of Many');
    const tokens = await connect(appOf(url));
    const answer = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(tokens.access_token) });
    expect(answer.status).toBe(200);
    expect(fetchesOf(url)).toBe(1);
  });

  it('may later ask for more than its document says of scope', async () => {
    const url = 'https://two.example/client.json';
    publish(url, { scope: 'openid' });
    expect((await connect(appOf(url))).scope).toContain('courses:read');
  });

  it('is sent nowhere that its document does not list', async () => {
    const url = 'https://three.example/client.json';
    publish(url, { redirect_uris: ['https://three.example/callback', 'http://127.0.0.1/callback'] });
    for (const redirectUri of [
      'https://three.example/callback2',
      'https://evil.example/callback',
      'http://127.0.0.1:5000/x',
    ]) {
      const page = await createBrowser().open((await authorizationRequest(appOf(url, redirectUri))).url);
      expect(page.status).toBe(400);
      expect(page.text).toContain('redirect_uri');
    }
  });

  it.each([
    ['http elsewhere', ['http://four.example/callback']],
    ['javascript', ['javascript:alert(1)']],
    ['a fragment', ['https://four.example/callback#x']],
    ['a code of its own', ['https://four.example/callback?code=x']],
    ['none', []],
    ['no list', 'https://four.example/callback'],
  ])('is refused with an explanation for redirect URIs with %s', async (what, redirectUris) => {
    const url = `https://four.example/${encodeURIComponent(what)}.json`;
    publish(url, { redirect_uris: redirectUris });
    const page = await authorize(url);
    expect(page.status).toBe(400);
    expect(page.text).toContain('redirect_uris: ');
  });

  it('is refused in words when it takes private_key_jwt only', async () => {
    const url = 'https://four.example/jwt-only.json';
    publish(url, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://four.example/jwks' });
    const page = await authorize(url);
    expect(page.status).toBe(400);
    expect(page.text).toContain('token_endpoint_auth_method must be none');
    expect(fetchesOf('https://four.example/jwks')).toBe(0);
  });

  it('is refused with the same page whatever came of its URL', async () => {
    host.names.set('private.five.example', () => ['10.1.2.3']);
    host.names.set('nowhere.five.example', () => []);
    const at = (name: string) => `https://five.example/${name}.json`;
    host.serve(at('status'), (_request, response) => response.writeHead(500).end());
    host.serve(at('moved'), (_request, response) =>
      response.writeHead(302, { location: 'https://one.example/' }).end(),
    );
    host.serve(at('type'), (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'));
    host.serve(at('other'), answerJson(plainDocument(at('another'))));
    host.serve(at('secret'), answerJson(plainDocument(at('secret'), { client_secret: 'x' })));
    const urls = [
      'https://private.five.example/client.json',
      'https://nowhere.five.example/client.json',
      'https://six.example',
      'https://six.example:8443/client.json',
      'https://six.example/client.json?x=1',
      'https://2130706433/client.json',
      'https://[::1]/client.json',
      'https://localhost/client.json',
      'https://not-in-certificate.example/client.json',
      at('absent'),
    ];
    const slow = [at('status'), at('moved'), at('type'), at('other'), at('secret')];
    const pages = [
      ...(await Promise.all(urls.map((url) => authorize(url)))),
      ...(await Promise.all(slow.map((url) => authorize(url)))),
    ];
    expect(new Set(pages.map((page) => page.status))).toEqual(new Set([400]));
    const texts = new Set(pages.map((page) => words(page.text)));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain('client metadata document cannot be used');
    for (const url of [at('status'), at('moved')]) expect(fetchesOf(url)).toBe(1);
    expect(fetchesOf('https://one.example/')).toBe(0);
  });

  it('that is unknown gets 401 invalid_client at the token endpoint, always the same', async () => {
    const answers = await Promise.all(
      ['https://private.five.example/token.json', 'https://six.example/absent.json', 'https://six.example'].map(
        async (clientId) => {
          const response = await postForm(dcr.server.token_endpoint, {
            grant_type: 'refresh_token',
            refresh_token: 'unknown',
            client_id: clientId,
          });
          expect(response.headers.get('cache-control')).toBe('no-store');
          return { status: response.status, body: (await response.json()) as Record<string, string> };
        },
      ),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual(answers[0]?.body);
      expect(body.error).toBe('invalid_client');
    }
  });

  it('goes on while its host is down, over a restart too, and stops when that lasts', async () => {
    const app = appOf('https://one.example/lasting.json');
    const { client_id: url } = app.client;
    publish(url);
    let tokens = await connect(app);
    host.serve(url, (_request, response) => response.writeHead(503).end());
    for (const days of [1, 2, 3]) {
      pass(days * DAY);
      await world.restart();
      tokens = await refresh(app, String(tokens.refresh_token));
      const answer = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(tokens.access_token) });
      expect(answer.status).toBe(200);
    }
    pass(2 * DAY);
    const late = await postForm(app.server.token_endpoint, {
      grant_type: 'refresh_token',
      refresh_token: String(tokens.refresh_token),
      client_id: url,
      resource: app.resource,
    });
    expect(late.status).toBe(503);
    expect(late.headers.get('retry-after')).toBe('60');
    expect(await late.json()).toMatchObject({ error: 'temporarily_unavailable' });
    pass(2 * MINUTE);
    publish(url);
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
  });

  it('that has taken its document away is refused to new members and kept by those it has', async () => {
    const app = appOf('https://one.example/leaving.json');
    publish(app.client.client_id);
    const tokens = await connect(app);
    host.serve(app.client.client_id, (_request, response) => response.writeHead(404).end());
    pass(2 * 60 * MINUTE);
    expect((await authorize(app.client.client_id)).status).toBe(400);
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
  });

  it('cannot make the gate fetch anything else', async () => {
    const before = host.resolved.length;
    await fetch(`${dcr.server.registration_endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['https://six.example/callback'],
        sector_identifier_uri: 'https://six.example/sector.json',
      }),
    });
    expect(host.resolved).toHaveLength(before);
  });
});

describe('an operator', () => {
  it('decides which domains are taken, before any name is resolved', async () => {
    const host = await startDocumentHost();
    const overrides = {
      clients: { documents: { allow: ['claude.ai', '*.apps.example'], deny: ['bad.apps.example'] } },
    };
    const world = await startWorld({ profile: 'B', overrides, documentNetwork: host.network });
    try {
      const app = await registerApp(world.origin);
      const statusFor = async (url: string) => {
        host.serve(url, answerJson(plainDocument(url)));
        const redirectUri = `${new URL(url).origin}/callback`;
        const request = await authorizationRequest({ ...app, client: { client_id: url }, redirectUri });
        return (await createBrowser().open(request.url)).status;
      };
      expect(await statusFor('https://claude.ai/client.json')).toBe(200);
      expect(await statusFor('https://good.apps.example/client.json')).toBe(200);
      expect(await statusFor('https://bad.apps.example/client.json')).toBe(400);
      expect(await statusFor('https://one.example/client.json')).toBe(400);
      expect(host.resolved).toEqual(['claude.ai', 'good.apps.example']);
    } finally {
      await world.close();
      await host.close();
    }
  });

  it('disables one app, whatever its document says, and enables it again', async () => {
    const host = await startDocumentHost();
    const url = 'https://shut.two.example/client.json';
    host.serve(url, answerJson(plainDocument(url)));
    const environment = { COMMAND_SECRET };
    const overrides = { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } };
    const world = await startWorld({ profile: 'A', environment, overrides, documentNetwork: host.network });
    try {
      const dcr = await registerApp(world.origin);
      const app: App = { ...dcr, client: { client_id: url }, redirectUri: 'https://shut.two.example/callback' };
      const connect = async () => {
        const request = await authorizationRequest(app);
        return redeem(app, request, await approve(request.url, app.redirectUri));
      };
      const courses = async (token: string) =>
        (await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(token) })).status;
      const tokens = await connect();
      expect(await courses(tokens.access_token)).toBe(200);
      const path = `/clients/${encodeURIComponent(url)}`;
      expect((await command(world.admin, '/clients?kind=document', { method: 'GET' })).body.clients).toEqual([
        expect.objectContaining({ id: url, kind: 'document', redirect_hosts: ['shut.two.example'], connections: 1 }),
      ]);
      expect((await command(world.admin, `${path}/disable`)).body).toMatchObject({ state: 'disabled', ended: 1 });
      expect(await courses(tokens.access_token)).toBe(401);
      expect((await createBrowser().open((await authorizationRequest(app)).url)).status).toBe(400);
      expect((await command(world.admin, `${path}/enable`)).status).toBe(200);
      expect(await courses((await connect()).access_token)).toBe(200);
    } finally {
      await world.close();
      await host.close();
    }
  });

  it('switches it off, and then it is not announced', async () => {
    const host = await startDocumentHost();
    const overrides = { clients: { documents: { enabled: false } } };
    const world = await startWorld({ profile: 'A', overrides, documentNetwork: host.network });
    try {
      const app = await registerApp(world.origin);
      expect(app.server).not.toHaveProperty('client_id_metadata_document_supported');
      const url = 'https://one.example/client.json';
      host.serve(url, answerJson(plainDocument(url)));
      const request = await authorizationRequest({ ...app, client: { client_id: url } });
      expect((await createBrowser().open(request.url)).status).toBe(400);
      expect(host.resolved).toEqual([]);
    } finally {
      await world.close();
      await host.close();
    }
  });
});
