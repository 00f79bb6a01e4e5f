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

describe('an app with a client metadata document', () => {
  let host: DocumentHost;
  let world: World;
  let dcr: App;

  beforeAll(async () => {
    host = await startDocumentHost();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now(),
      documentNetwork: host.network,
      overrides: { listen: { trustedProxies: ['loopback'] } },
    });
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
  /** Opens the app's authorization request as a client at `address`, if given, behind the operator's proxy. */
  const authorize = async (clientId: string, address?: string) => {
    const { url } = await authorizationRequest(appOf(clientId));
    return createBrowser(address === undefined ? {} : { 'x-forwarded-for': address }).open(url);
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

  it.each(['oauth-authorization-server', 'openid-configuration'])('is supported, as announced in %s', async (name) => {
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

  it('is shown by its name, and reads with its token like any other app', async () => {
    const url = 'https://one.example/client.json';
    publish(url, { client_name: 'One of Many' });
    const { page } = await reachConsent((await authorizationRequest(appOf(url))).url);
    expect(page.text).toContain('One of Many');
    const tokens = await connect(appOf(url));
    const answer = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(tokens.access_token) });
    expect(answer.status).toBe(200);
    expect(fetchesOf(url)).toBe(1);
  });

  it('may request scopes that its document does not list', async () => {
    const url = 'https://two.example/client.json';
    publish(url, { scope: 'openid' });
    expect((await connect(appOf(url))).scope).toContain('courses:read');
  });

  it('is redirected only to URIs that its document lists', async () => {
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

  it('is refused with an explanation when it supports only private_key_jwt', async () => {
    const url = 'https://four.example/jwt-only.json';
    publish(url, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://four.example/jwks' });
    const page = await authorize(url);
    expect(page.status).toBe(400);
    expect(page.text).toContain('token_endpoint_auth_method must be none');
    expect(fetchesOf('https://four.example/jwks')).toBe(0);
  });

  /** What the page for the member says, and the sentence that it gives the app's developer. */
  const told = (page: string) => ({
    text: words(page),
    detail: /<code lang="en" dir="ltr">[a-z_]+: (.*)\n/.exec(page)?.[1]?.replaceAll('&#39;', "'"),
  });

  // The next three tests wait together, each at addresses of its own: an unknown document fails after 2.5 seconds.
  it.concurrent('gets an error page that says why its document cannot be used', async () => {
    host.names.set('private.five.example', () => ['10.1.2.3']);
    host.names.set('nowhere.five.example', () => []);
    // Each at its own host: one network may fetch no more than three documents from a host at once.
    const at = (name: string) => `https://${name}.five.example/client.json`;
    host.serve(at('status'), (_request, response) => response.writeHead(500).end());
    host.serve(at('moved'), (_request, response) =>
      response.writeHead(302, { location: 'https://one.example/' }).end(),
    );
    host.serve(at('type'), (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'));
    host.serve(at('large'), answerJson(plainDocument(at('large'), { x: 'x'.repeat(5121) })));
    host.serve(at('text'), (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    );
    host.serve(at('slow'), () => undefined);
    host.serve(at('other'), answerJson(plainDocument(at('another'))));
    host.serve(at('secret'), answerJson(plainDocument(at('secret'), { client_secret: 'x' })));
    const unreachable =
      'cannot be reached: its host needs a public address and a valid certificate, and must answer on port 443';
    const document = 'the client metadata document at this client_id';
    const address = 'this client_id cannot be used as the URL of a client metadata document: it';
    const expected: readonly (readonly [string, string])[] = [
      ['https://private.five.example/client.json', `${document} ${unreachable}`],
      ['https://nowhere.five.example/client.json', `${document} ${unreachable}`],
      ['https://not-in-certificate.example/client.json', `${document} ${unreachable}`],
      ['https://six.example', `${address} is not a URL in canonical form`],
      ['https://six.example:8443/client.json', `${address} names a port other than 443`],
      ['https://six.example/client.json?x=1', `${address} has a query`],
      ['https://[::1]/client.json', `${address} names an IP address`],
      [at('absent'), `${document} was answered with status 404`],
      [at('status'), `${document} was answered with status 500 instead of 200`],
      [at('moved'), `${document} was answered with status 302: redirects are not followed`],
      [at('type'), `${document} has the wrong content type: it must be application/json`],
      [at('large'), `${document} is larger than 5120 bytes`],
      [at('text'), `${document} is not a JSON object of client metadata, in UTF-8 and without repeated members`],
      [at('slow'), `${document} was not answered within 2.5 seconds`],
      [at('other'), `${document} names another client_id: it must be the URL of the document`],
      [at('secret'), `${document} contains a client_secret member, which everyone could read`],
    ];
    // Eight from each network, which may fetch ten at once, so that none waits for its turn.
    const addresses = ['198.51.100.7', '203.0.113.7'];
    const pages = await Promise.all(expected.map(([url], at) => authorize(url, addresses[at % 2])));
    expect(pages.map((page) => [page.status, told(page.text).detail])).toEqual(
      expected.map(([, detail]) => [400, detail]),
    );
    for (const page of pages) {
      const { text, detail } = told(page.text);
      // Without any answer, the school's own firewall is likelier than a mistake of the developer.
      const noAnswer = /cannot be reached|was not answered within/.test(detail ?? '');
      expect(text).toContain(
        noAnswer
          ? 'Most likely the network of Harbour Lane School does not let it out. Ask Harbour Lane School'
          : 'Only the app’s developer can fix this.',
      );
      expect(text).not.toMatch(/regist|10\.1\.2\.3|127\.0\.0\.1|ECONN|ENOTFOUND/);
    }
    for (const url of [at('status'), at('moved')]) expect(fetchesOf(url)).toBe(1);
    expect(fetchesOf('https://one.example/')).toBe(0);
  });

  it.concurrent('cannot tell a private address from one that does not exist', async () => {
    host.names.set('inside.five.example', () => ['10.1.2.3', '192.168.0.1']);
    host.names.set('nothing.five.example', () => []);
    const urls = ['inside', 'nothing'].map((name) => `https://${name}.five.example/client.json`);
    const [inside, nothing] = await Promise.all(urls.map((url) => authorize(url, '192.0.2.7')));
    expect(words(inside?.text ?? 'x')).toBe(words(nothing?.text ?? 'y'));
  });

  it.concurrent('that is unknown gets 401 invalid_client with the reason at the token endpoint', async () => {
    host.names.set('hidden.five.example', () => ['10.1.2.3']);
    const answers = await Promise.all(
      ['https://hidden.five.example/token.json', 'https://six.example/absent.json', 'https://six.example'].map(
        async (clientId) => {
          const form = { grant_type: 'refresh_token', refresh_token: 'unknown', client_id: clientId };
          const response = await postForm(dcr.server.token_endpoint, form, { 'x-forwarded-for': '198.18.0.7' });
          expect(response.headers.get('cache-control')).toBe('no-store');
          expect(response.status).toBe(401);
          return (await response.json()) as Record<string, string>;
        },
      ),
    );
    expect(answers.map(({ error }) => error)).toEqual(['invalid_client', 'invalid_client', 'invalid_client']);
    expect(
      answers.map(({ error_description: said }) => said?.split(/ (?=cannot be reached|was answered|is not)/)[1]),
    ).toEqual([
      'cannot be reached: its host needs a public address and a valid certificate, and must answer on port 443',
      'was answered with status 404',
      'is not a URL in canonical form',
    ]);
  });

  it('keeps working while its host is down, also over a restart, and stops after 7 days', async () => {
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

  it('that has removed its document is refused for new members, and kept for existing ones', async () => {
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
  it('can restrict the domains, which is checked before any name is resolved', async () => {
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

  it('can disable one app, whatever its document says, and enable it again', async () => {
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
      const waiting = await reachConsent((await authorizationRequest(app)).url);
      expect((await command(world.admin, `${path}/disable`)).body).toMatchObject({ state: 'disabled', ended: 1 });
      expect(await courses(tokens.access_token)).toBe(401);
      expect((await createBrowser().open((await authorizationRequest(app)).url)).status).toBe(400);
      // A sign-in that had begun, too.
      const approval = { decision: 'approve', scope: ['courses:read'] };
      const shown = await waiting.browser.open(waiting.page.url);
      expect([shown.status, shown.text]).toEqual([
        400,
        expect.stringContaining('This app is no longer registered here.'),
      ]);
      const approved = await waiting.browser.submit(waiting.page, approval);
      expect([approved.status, approved.text]).toEqual([401, expect.stringContaining('it is disabled here')]);
      expect((await command(world.admin, `${path}/enable`)).status).toBe(200);
      expect(await courses((await connect()).access_token)).toBe(200);
      expect((await command(world.admin, `${path}/delete`)).body).toEqual({ id: url, ended: 1 });
      expect((await command(world.admin, path, { method: 'GET' })).body).toMatchObject({ known: false, grants: [] });
    } finally {
      await world.close();
      await host.close();
    }
  });

  it('can disable documents, which are then not announced', async () => {
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
