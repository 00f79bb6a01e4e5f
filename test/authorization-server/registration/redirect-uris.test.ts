import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientMetadataProblem } from '../../../src/authorization-server/rules/client-metadata.ts';
import { REFUSED_REDIRECT_URIS } from '../../support/redirect-uris.ts';
import { startWorld, type World } from '../../support/world.ts';
import { CALLBACK, MANY, mayRedirect, register } from './support.ts';

describe('redirect URIs', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: MANY });
  });
  afterAll(() => world.close());

  const long = (length: number) => `${CALLBACK}?${'x'.repeat(length - CALLBACK.length - 1)}`;

  it.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example?tenant=1',
    'https://app.example:8443/callback?tenant=1&x=%C3%A9',
    'https://xn--bcher-kva.example/callback',
    'https://App.Example/Callback',
    'https://intranet/callback',
    'https://2fa.example/callback',
    'https://app.0x.example/callback',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:5123',
    'http://localhost/callback',
    'http://localhost:0/callback',
    'http://localhost:65535/?x=1',
    'http://[::1]/callback',
    'http://[::1]:5123/callback',
    'com.example.app:/callback',
    'com.example.app://callback',
    'com.example.app:///callback',
    'com.googleusercontent.apps.123-abc:/oauth2redirect',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'vscode-insiders://x/y',
    'windsurf://codeium.windsurf/callback',
    'zed://oauth/callback',
    'jetbrains://idea/oauth',
    'claude://oauth/callback',
    'raycast://oauth',
    long(2048),
  ])('are accepted and used: %s', async (uri) => {
    const { status, body } = await register(world, { redirect_uris: [uri] });
    expect({ status, uris: body.redirect_uris }).toEqual({ status: 201, uris: [uri] });
    expect(await mayRedirect(world, body.client_id, uri)).toBe(true);
  });

  it.each(REFUSED_REDIRECT_URIS)('are refused: %j', async (uri) => {
    // Together with a valid one, so that each is validated separately.
    const { status, body } = await register(world, { redirect_uris: [CALLBACK, uri] });
    expect(status).toBe(400);
    expect(body).toEqual({
      error: 'invalid_redirect_uri',
      error_description: expect.stringMatching(/^redirect_uris: number 2 .{8,}$/),
    });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['none', []],
    ['a string', CALLBACK],
    ['a list with a number', [CALLBACK, 1]],
    ['a list with a list', [[CALLBACK]]],
    ['a list with null', [null]],
    ['eleven', Array.from({ length: 11 }, (_, index) => `${CALLBACK}/${index}`)],
    ['a thousand URIs', Array.from({ length: 300 }, (_, index) => `https://a.test/${index}`)],
  ])('are refused as a list: %s', async (_name, uris) => {
    const { status, body } = await register(world, { redirect_uris: uris });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_redirect_uri' });
  });

  it('are accepted up to ten', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => `${CALLBACK}/${index}`);
    expect(await register(world, { redirect_uris: ten })).toMatchObject({ status: 201, body: { redirect_uris: ten } });
  });

  it.each<[string, string, boolean]>([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback', true],
    ['http://127.0.0.1:5123/callback', 'http://127.0.0.1:49152/callback', true],
    ['http://127.0.0.1:5123/callback', 'http://127.0.0.1/callback', true],
    ['http://localhost/callback', 'http://localhost:49152/callback', true],
    ['http://[::1]/callback', 'http://[::1]:49152/callback', true],
    ['http://127.0.0.1/callback', 'http://localhost:49152/callback', false],
    ['http://127.0.0.1/callback', 'http://127.1:49152/callback', false],
    ['http://127.0.0.1/callback', 'http://x@127.0.0.1:49152/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback/', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/Callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback?x=1', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/x/../callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:4915\t2/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:99999/callback', false],
    ['http://127.0.0.1/callback', 'https://127.0.0.1:49152/callback', false],
    ['http://127.0.0.1/callback', 'HTTP://127.0.0.1:49152/callback', false],
    ['https://app.example/callback', 'https://app.example:443/callback', false],
    ['https://app.example/callback', 'https://app.example:8443/callback', false],
    ['https://app.example/callback', 'https://APP.example/callback', false],
    ['https://app.example/callback', 'https://app.example/%63allback', false],
    ['https://app.example/callback', 'https://app.example/callback?', false],
    ['https://app.example', 'https://app.example/', false],
    ['cursor://anysphere.cursor-mcp/x', 'cursor://anysphere.cursor-mcp:1/x', false],
  ])('registered as %s, requested as %j, are used: %s', async (registered, requested, sent) => {
    const { body } = await register(world, { redirect_uris: [registered] });
    expect(await mayRedirect(world, body.client_id, requested)).toBe(sent);
  });

  /** Mostly valid, so that each kind of error occurs alone. */
  const part = (good: readonly string[], bad: string) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: fc.constantFrom(...bad.split(' ').map((text) => JSON.parse(`"${text}"`) as string)) },
    );
  const parts = fc.tuple(
    part(
      ['https', 'http', 'cursor', 'com.example.app'],
      'HTTPS myapp javascript java\\tscript data file ftp ws view-source blob \\u0020https \\u0001http',
    ),
    part(['://'], ':/ : :/// :\\\\\\\\ ://\\t :/\\n/'),
    part(
      ['app.example', 'localhost', '127.0.0.1', '[::1]', 'xn--bcher-kva.example', '2fa.example'],
      '127.1 0x7f.1 2130706433 0.0.0.0 [::ffff:127.0.0.1] LOCALHOST x@localhost localhost.evil.test *.evil.test 10.0.0.1  app.example. b\\u00fccher.example \\uff11\\uff12\\uff17.0.0.1 \\u24db\\u24dfcalhost 127\\u30020\\u30020\\u30021',
    ),
    part(['', ':0', ':80', ':443', ':8080', ':65535'], ': :065 :65536 :8\\t0 :\\u002080'),
    fc.oneof(
      {
        weight: 2,
        arbitrary: part(
          ['', '/', '/callback', '/x@y', '/%41', '?x=1', '/../x'],
          '/* /a\\u0020b /%00 /c?code=1 # \\\\x /\\u202e',
        ),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 6 }).map((text) => `/${text}`) },
    ),
  );
  const uris = fc.oneof(
    { weight: 4, arbitrary: parts.map((all) => all.join('')) },
    { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  );

  it('are stored only if they lead where they seem to, and match byte for byte except for a loopback port', async () => {
    const taken = new Set<string>();
    await fc.assert(
      fc.asyncProperty(uris, fc.integer({ min: 1, max: 65_535 }), async (uri, port) => {
        const { status, body } = await register(world, { redirect_uris: [uri] });
        if (status !== 201) {
          expect(body.error).toBe('invalid_redirect_uri');
          return;
        }
        expect(body.redirect_uris).toEqual([uri]);
        const url = new URL(uri);
        const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
        expect(uri).toMatch(/^[!-~]+$/);
        expect(uri.startsWith(url.protocol)).toBe(true);
        expect(['https:', 'http:', 'cursor:', 'com.example.app:']).toContain(url.protocol);
        expect(url.username + url.password + url.hash).toBe('');
        if (url.protocol === 'http:') expect(loopback).toBe(true);
        if (url.protocol === 'https:') expect(url.hostname).toMatch(/^(?!localhost$)([a-z0-9-]+\.)*[a-z][a-z0-9-]*$/);
        const { client_id: id } = body;
        expect(await mayRedirect(world, id, uri)).toBe(true);
        const at = Math.floor(uri.length / 2);
        const other = uri.slice(0, at) + (uri[at] === 'q' ? 'w' : 'q') + uri.slice(at + 1);
        if (!loopback || !/^[a-z]+:\/\/[^/?]*$/.test(uri.slice(0, at + 1))) {
          expect(await mayRedirect(world, id, other)).toBe(false);
        }
        const ported = uri.replace(/^([^/]*\/\/(?:\[[^\]]*\]|[^/:?]*))(?::\d*)?(?=[/?]|$)/, `$1:${port}`);
        if (ported !== uri) expect(await mayRedirect(world, id, ported)).toBe(url.protocol === 'http:');
        taken.add(`${url.protocol} ${url.hostname}`);
      }),
      { numRuns: 1500 },
    );
    // Otherwise the property would have tested nothing.
    expect([...taken]).toEqual(
      expect.arrayContaining([
        'https: app.example',
        'http: localhost',
        'http: 127.0.0.1',
        'http: [::1]',
        'cursor: app.example',
      ]),
    );
  });
});

describe('redirect URIs when the operator allows too much', () => {
  it.each(['javascript:/x', 'data:/x', 'file:///x', 'ms-settings:/x'])('still cannot be %s', (uri) => {
    const redirects = { schemes: [uri.slice(0, uri.indexOf(':'))], allow: [], deny: [] };
    expect(clientMetadataProblem({ redirect_uris: [uri] }, redirects)).toEqual({
      error: 'invalid_redirect_uri',
      description: expect.stringContaining('must not use the scheme'),
    });
  });

  it('explain what is wrong with a scheme in upper case', () => {
    const redirects = { schemes: ['cursor'], allow: [], deny: [] };
    expect(clientMetadataProblem({ redirect_uris: ['Cursor://x'] }, redirects)?.description).toContain('lower case');
  });
});

describe('redirect URIs when the operator allows more', () => {
  let world: World;
  beforeAll(async () => {
    const redirects = { schemes: ['myapp'], allow: ['app.example', '*.apps.example'], deny: ['bad.apps.example'] };
    world = await startWorld({ profile: 'A', overrides: { clients: { redirects } } });
  });
  afterAll(() => world.close());

  it.each<[string, number]>([
    ['https://app.example/callback', 201],
    ['https://APP.example/callback', 201],
    ['https://x.apps.example/callback', 201],
    ['https://x.y.apps.example/callback', 201],
    ['https://apps.example/callback', 400],
    ['https://bad.apps.example/callback', 400],
    ['https://x.app.example/callback', 400],
    ['https://evil.test/callback', 400],
    ['https://evilapp.example/callback', 400],
    ['myapp://callback', 201],
    ['cursor://callback', 400],
    ['com.example.app:/callback', 201],
    ['http://127.0.0.1/callback', 201],
  ])('such as %s get %i', async (uri, status) => {
    expect((await register(world, { redirect_uris: [uri] })).status).toBe(status);
  });
});
