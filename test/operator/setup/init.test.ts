import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { checkInterfaces } from '../../../src/generation/interfaces.ts';
import { startSchool } from '../../../src/operator/demo/school.ts';
import { init } from '../../../src/operator/setup/init/init.ts';
import { PRESETS, readPreset } from '../../../src/operator/setup/init/preset-file.ts';
import { runCommand } from '../../support/command.ts';
import { slowness } from '../../support/pace.ts';
import { freePort } from '../../support/world.ts';
import { html, json, KINDS, type ProbedSite, startProbed } from './sites.ts';

const ORIGIN = 'https://school.example';
/** What presets expect in the environment of the gate. */
const ENVIRONMENT = {
  LEARNHOUSE_TOKEN: 'lh_0123456789abcdef',
  LEARNHOUSE_DATABASE: 'postgres://reader@127.0.0.1/learnhouse',
  FRAPPE_KEY: '0123456789abcde:0123456789abcde',
};
let dir: string;
let site: ProbedSite | undefined;
let told: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'coursegate-init-test-'));
  told = [];
});
afterEach(async () => {
  await site?.close();
  site = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const run = (upstream: string, more: Partial<Parameters<typeof init>[0]> = {}) =>
  init({
    upstream,
    origin: ORIGIN,
    dir,
    port: 8080,
    adminPort: 9090,
    force: false,
    site: false,
    observe: false,
    tell: (line) => void told.push(line),
    agree: async () => true,
    ...more,
  });
/** Holds for sites that describe no API, until the operator adds a route. */
const WITHOUT_ROUTES = /^(routes is empty|upstreams\.\w+ is not used by anything)/;
const read = (path: string) => readFileSync(join(dir, path), 'utf8');
/** Loads the file as it is when the operator has filled it in. */
const loadedAll = async () => {
  const file = join(dir, 'filled-in.yaml');
  writeFileSync(file, read('coursegate.yaml').replaceAll('FILL-IN', 'filled-in'));
  try {
    return await loadConfig({ file, environment: ENVIRONMENT });
  } finally {
    rmSync(file);
  }
};
const loaded = async () => (await loadedAll()).config;
/** What `check --strict` would complain about. Throws for mistakes. */
const complaints = async () => {
  const all = await loadedAll();
  await checkInterfaces(all);
  return all.warnings.map(({ path, message }) => `${path} ${message}`);
};
const mode = (path: string) => statSync(join(dir, path)).mode & 0o777;

describe('the presets', () => {
  it.each(PRESETS)('include %s, which is recognised by its marks and only by them', async (name) => {
    site = await startProbed(KINDS[name] ?? {});
    await run(site.url, { dir: join(dir, name) });
    const [seen = ''] = told.filter((line) => line.startsWith('Framework: '));
    expect(seen).toMatch(new RegExp(`^Framework: ${name} \\(.+; .+\\)\\.$`));
  });

  it.each([
    ['a mark of no kind', 'marks: [{ weight: 3, says: x, seen: { smell: x } }]', /marks\[0\]\.seen/],
    ['an expression that is too long', `marks: [{ weight: 3, says: x, seen: { page: ${'x'.repeat(301)} } }]`, /marks/],
    ['an expression that is none', 'marks: [{ weight: 3, says: x, seen: { cookie: "(" } }]', /marks/],
    [
      'a key that is not known',
      'marks: [{ weight: 3, says: x, seen: { page: x } }]\nmark: x',
      /Unrecognized key: "mark"/,
    ],
    ['no marks', 'marks: []', /marks/],
    [
      'a secret, and nothing about who may read it',
      'marks: [{ weight: 3, says: x, seen: { page: x } }]\nsettings: "{{adminSecret}}"',
      /secretsFor/,
    ],
    [
      'lines outside the drop-in',
      'marks: [{ weight: 3, says: x, seen: { page: x } }]\nlines: { path: ../x, text: x }',
      /lines\.path/,
    ],
    [
      'a text with a value that is not known',
      'marks: [{ weight: 3, says: x, seen: { page: x } }]\nsettings: "{{secret}}"',
      /settings/,
    ],
  ])('refuse a file with %s, and name it', (_, lines, words) => {
    const file = join(dir, 'crm', 'preset.yaml');
    mkdirSync(join(dir, 'crm'));
    writeFileSync(file, `worksWith: CRM 1\ndependencies: nothing\n${lines}\n`);
    expect(() => readPreset('crm', dir)).toThrow(file);
    expect(() => readPreset('crm', dir)).toThrow(words);
  });
});

describe('a detected site', () => {
  it.each([
    ['wordpress', 'session', ['wordpress_logged_in_*'], 'drop-in/coursegate.php'],
    ['moodle', 'session', ['MoodleSession*'], 'drop-in/coursegate/whoami.php'],
    ['django', 'session', ['sessionid'], 'drop-in/coursegate.py'],
    ['rails', 'bridge', undefined, 'drop-in/coursegate_controller.rb'],
    ['laravel', 'bridge', undefined, 'drop-in/Coursegate/Gate.php'],
    ['spring', 'bridge', undefined, 'drop-in/Coursegate.java'],
    ['express', 'bridge', undefined, 'drop-in/coursegate.js'],
  ] as const)('of kind %s gets its drop-in and a configuration that loads', async (kind, login, cookies, file) => {
    site = await startProbed(KINDS[kind] ?? {});
    const files = await run(site.url);
    expect(told.join('\n')).toMatch(new RegExp(`Framework: ${kind} \\(.+; `));
    const config = await loaded();
    expect(config.origin).toBe(ORIGIN);
    expect(config.anonymous).toBe('refuse');
    expect(config.site).toBeUndefined();
    expect(config.login.kind).toBe(login);
    if (config.login.kind === 'session') {
      expect(config.login.cookies).toEqual(cookies);
      expect(config.login.loginUrl.startsWith(`${ORIGIN}/`)).toBe(true);
    }
    expect(config.upstreams).toMatchObject({ [kind]: { url: site.url } });
    expect(files).toContain(join(dir, file));
    expect((await complaints()).filter((line) => !WITHOUT_ROUTES.test(line))).toEqual([]);
    for (const path of files) expect(existsSync(path)).toBe(true);
    expect(readdirSync(join(dir, 'proxy')).toSorted()).toEqual([
      'Caddyfile',
      'apache.conf',
      'nginx.conf',
      'traefik.yaml',
    ]);
    expect(told.join('\n')).toMatch(
      /Next steps:[\s\S]*drop-in[\s\S]*proxy\/[\s\S]*coursegate doctor https:\/\/school\.example/,
    );
    // Detection must not change anything on the site.
    expect(new Set(site.asked.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(site.asked[0]?.headers).toMatchObject({ host: 'school.example', 'x-forwarded-proto': 'https' });
  });

  it('of kind learnhouse gets a complete configuration that needs no drop-in, for its own organization', async () => {
    site = await startProbed(KINDS.learnhouse ?? {});
    const files = await run(site.url);
    expect(told.join('\n')).toMatch(/Framework: learnhouse \(.+; .+\)/);
    expect(await complaints()).toEqual([]);
    const { profile, config } = await loadedAll();
    expect([profile, config.login.kind, config.account?.mappings]).toEqual([
      'A',
      'database',
      join(dir, 'mapping.graphql'),
    ]);
    expect(config.upstreams).toMatchObject({
      learnhouse: { url: site.url, credential: { mint: { path: '/api/v1/admin/harbour/auth/token' } } },
    });
    expect(config.routes.map(({ rewrite }) => rewrite)).toContain('/api/v1/courses/org_slug/harbour/page/*/limit/*');
    expect(files.map((path) => path.slice(dir.length + 1)).filter((path) => !path.startsWith('proxy/'))).toEqual([
      'coursegate.yaml',
      'account.graphql',
      'mapping.graphql',
      'skills/plan-my-week/SKILL.md',
    ]);
    expect(told.join('\n')).toMatch(
      /1\. Set LEARNHOUSE_TOKEN and LEARNHOUSE_DATABASE as described in \/.*\/integrations\/learnhouse\/README\.md\./,
    );
    expect(new Set(site.asked.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('of kind frappe gets a configuration that says that it is untested', async () => {
    site = await startProbed(KINDS.frappe ?? {});
    await run(site.url);
    expect(told.join('\n')).toMatch(/Framework: frappe \(.+; .+\)/);
    expect(await complaints()).toEqual([]);
    expect(read('coursegate.yaml').split('\n')[1]).toMatch(/^# Untested: /);
    expect((await loaded()).login).toMatchObject({
      kind: 'session',
      cookies: ['sid'],
      recheck: { upstream: 'frappe' },
    });
  });

  it.each(['learnhouse', 'wordpress', 'moodle'])('gets every other line of the preset of %s', async (kind) => {
    const everything = json({ namespaces: ['wp/v2', 'llms/v1', 'wc/v3'] });
    site = await startProbed({ ...KINDS[kind], ...(kind === 'wordpress' ? { '/wp-json/': everything } : {}) });
    await run(site.url, { site: true });
    const preset = readFileSync(new URL(`../../../integrations/${kind}/coursegate.yaml`, import.meta.url), 'utf8');
    const written = new Set(read('coursegate.yaml').split('\n'));
    const body = preset.replace(/^(#.*\n)+/, '').split('\n');
    const changed = body.filter((line) => !written.has(line) && !/^ *# needs /.test(line));
    // The three lines to change, the secrets, the comment above `site`, and the paths of LearnHouse's organization.
    expect(
      changed.filter(
        (line) => !/\(\d\)|env: COURSEGATE_|goes to the site|^listen:|\/default\/|\.\.\/account/.test(line),
      ),
    ).toEqual([]);
  });

  it('with WordPress gets the drop-in’s settings filled in, and its name in the configuration', async () => {
    site = await startProbed(KINDS.wordpress ?? {});
    await run(site.url);
    const php = read('drop-in/coursegate.php');
    expect(php).toContain(`define('COURSEGATE_ORIGIN', '${ORIGIN}')`);
    expect(php).toContain("define('COURSEGATE_UPSTREAM', 'wordpress')");
    expect(php).toContain('http://127.0.0.1:8080/.well-known/jwks.json');
    expect(php.match(/define\('COURSEGATE_ORIGIN'/g)).toHaveLength(1);
    // A setting that is left out would be a PHP error at its first use.
    const settings = (text: string) => [...text.matchAll(/^defined\('(COURSEGATE_\w+)'\)/gm)].map(([, name]) => name);
    const original = new URL('../../../integrations/wordpress/coursegate.php', import.meta.url);
    expect(settings(php)).toEqual(settings(readFileSync(original, 'utf8')));
    expect((await loaded()).name).toBe('Harbour Lane & Co');
  });

  it.each(['wordpress', 'django'] as const)(
    'of kind %s gets the revocation settings filled in on both sides',
    async (kind) => {
      site = await startProbed(KINDS[kind] ?? {});
      const files = await run(site.url);
      const [admin, key] = [read('admin.secret').trim(), read('recheck.key').trim()];
      expect(new Set([admin, key]).size).toBe(2);
      for (const secret of [admin, key]) expect(secret).toMatch(/^[0-9a-f]{64}$/);
      const sharing = kind === 'wordpress' ? 'drop-in/coursegate.php' : '.env';
      expect(read(sharing)).toMatch(new RegExp(`COURSEGATE_ADMIN_SECRET(=|', ')${admin}\\b`));
      expect(read(sharing)).toMatch(new RegExp(`COURSEGATE_KEY(=|', ')${key}\\b`));
      expect(read(kind === 'wordpress' ? sharing : 'drop-in/settings-lines.py')).toContain('http://127.0.0.1:9090');
      const holding = files.filter((file) =>
        [admin, key].some((secret) => readFileSync(file, 'utf8').includes(secret)),
      );
      expect(holding.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
      const all = await loadedAll();
      expect([all.admin.hmac, all.recheckKey]).toEqual([[admin], key]);
      expect(all.config.login).toMatchObject({
        recheck: { upstream: kind, key: { header: 'Coursegate-Key' }, active: '/active', version: '/version' },
      });
      expect(told.join('\n')).not.toMatch(new RegExp(`${admin}|${key}`));
    },
  );

  it('with Rails gets one secret on both sides, readable by its owner only', async () => {
    site = await startProbed(KINDS.rails ?? {});
    await run(site.url);
    const secret = read('bridge.secret').trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(read('.env')).toContain(`COURSEGATE_BRIDGE_SECRET=${secret}\n`);
    expect([mode('bridge.secret'), mode('.env')]).toEqual([0o600, 0o600]);
    expect(read('coursegate.yaml')).not.toContain(secret);
    const { secrets } = await loadedAll();
    expect(secrets.get('login.secret')).toBe(secret);
    expect(told.join('\n')).not.toContain(secret);
  });

  it('of unknown kind gets what was found in a file that loads, with notes on what was not', async () => {
    site = await startProbed({
      '/': html('<title>Old school</title><a href="/members/login.asp">Log in</a>', {
        'set-cookie': 'OLDSESSID=1; path=/',
      }),
      '/login': html('<form><input type=hidden name="next"><input type="password"></form>'),
      '/api/me': json({ error: 'sign in' }, 401),
      '/openapi.json': json({
        openapi: '3.0.0',
        servers: [{ url: '/api' }],
        paths: {
          '/courses/{id}': { get: {} },
          '/orders': { get: {}, post: {} },
          '/zebras': { get: {} },
          '/write': { post: {} },
        },
      }),
      '/api/orders': json({ error: 'sign in' }, 401),
      '/api/zebras': json([]),
    });
    await run(site.url);
    expect(await complaints()).toEqual([]);
    const config = await loaded();
    expect(config.login).toMatchObject({
      kind: 'session',
      whoami: { path: '/api/me' },
      loginUrl: `${ORIGIN}/login`,
      returnParam: 'next',
      cookies: ['OLDSESSID'],
    });
    expect(config.routes.map(({ match, rewrite, scopes }) => [match, rewrite, scopes])).toEqual([
      ['GET /api/site/api/courses/*', '/api/courses/*', ['courses:read']],
      ['GET /api/site/api/orders', '/api/orders', ['orders:read']],
    ]);
    expect(read('coursegate.yaml')).toMatch(/# - \{ match: "GET \/api\/site\/api\/zebras".*which scope fits/);
    expect(existsSync(join(dir, 'drop-in'))).toBe(false);
    expect(told.join('\n')).not.toMatch(/^(Also seen|Seen):/m);
  });

  it.each(['/go/login.asp', '/go/log-in', '/go/signin', '/go/sign-in', '/go/sign_in'])(
    'without a known login page gets the one that its front page links to: %s',
    async (path) => {
      site = await startProbed({ '/': html(`<a href="/news">News</a><a href="${path}">Go</a>`) });
      await run(site.url);
      expect((await loaded()).login).toMatchObject({ kind: 'session', loginUrl: `${ORIGIN}${path}` });
    },
  );

  it('that draws its sign-in page with a script is found by the redirect from its front page', async () => {
    site = await startProbed({
      '/': (_request, response) =>
        void response
          .writeHead(302, { location: '/en/', 'set-cookie': ['kolibri_csrftoken=1; path=/', 'shown=en'] })
          .end(),
      '/en/': (request, response) => {
        // As a browser does, it has to bring the cookies.
        const known = request.headers.cookie === 'kolibri_csrftoken=1; shown=en';
        response.writeHead(302, { location: known ? '/en/auth/?next=/en/learn/' : '/' }).end();
      },
      '/en/auth/': html('<head><title>Kolibri</title></head><div id="app"></div>', { 'set-cookie': 'visitor_id=2' }),
    });
    await run(site.url);
    expect(read('coursegate.yaml')).toContain(`loginUrl: "${ORIGIN}/en/auth/"`);
    expect(read('coursegate.yaml')).toContain('returnParam: "next"');
    expect(read('coursegate.yaml')).toMatch(
      /\(4\) No session cookie was seen\. .* Cookies seen without a sign-in: kolibri_csrftoken, shown, visitor_id\./,
    );
    expect(told.join('\n')).toContain('Sign-in page: /en/auth/. Session cookies: none seen.');
  });

  it('is not taken to sign in where its front page is only in another language', async () => {
    site = await startProbed({
      '/': (_request, response) => void response.writeHead(302, { location: '/en/' }).end(),
      '/en/': html('<title>School</title>'),
    });
    await run(site.url);
    expect(read('coursegate.yaml')).toContain(`loginUrl: "${ORIGIN}/FILL-IN"`);
  });

  it('gets the guide of its drop-in beside it, with links that lead to installed documents', async () => {
    site = await startProbed(KINDS.django ?? {});
    const files = await run(site.url);
    expect(files).toContain(join(dir, 'drop-in/README.md'));
    expect(told.join('\n')).toContain('Install drop-in/ as described in drop-in/README.md.');
    expect(read('coursegate.yaml')).toContain('# The setup is described in drop-in/README.md.');
    const links = [...read('drop-in/README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect([link, existsSync(link)]).toEqual([link, true]);
  });

  it('is not attributed to a framework by a single sign', async () => {
    site = await startProbed({ '/': html('', { 'set-cookie': 'JSESSIONID=1' }) });
    await run(site.url);
    expect(told.join('\n')).toMatch(/No known framework detected[\s\S]*spring: the cookie JSESSIONID.*--framework/);
    expect(Object.keys((await loaded()).upstreams)).toEqual(['site']);
  });
});

describe('the API of a site', () => {
  const get = (more: object = {}) => ({ get: { responses: {}, ...more } });
  const ok = json({ items: [] });

  it('is found in a description of 600 KB, and proposed by what members ask for first', async () => {
    const paths = {
      '/admin/stats': get(),
      ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`/aardvarks/kind-${at}`, get()])),
      '/gone': get(),
      '/users/{user_id}/courses': get(),
      '/users/{id}': get(),
      '/profile': get({ summary: 'Who I am' }),
      '/orders': get({ summary: 'My orders' }),
      '/courses/broken': get(),
      '/courses/{slug}': get(),
      '/courses/page': get(),
      '/courses': get({ summary: 'All courses' }),
      '/courses/search': get({ parameters: [{ name: 'q', in: 'query', required: true }] }),
      '/progress': get({ summary: 'How far I am' }),
    };
    const description = { openapi: '3.1.0', info: { description: 'x'.repeat(600 * 1024) }, paths };
    const answering = ['/admin/stats', ...Object.keys(paths).filter((path) => path.startsWith('/aardvarks'))];
    site = await startProbed({
      '/openapi.json': json(description),
      ...Object.fromEntries(answering.map((path) => [path, ok])),
      '/profile': json({ detail: 'Not authenticated' }, 401),
      '/orders': json({ detail: 'Not authenticated' }, 403),
      '/courses/broken': json({ detail: 'Internal Server Error' }, 500),
      '/courses/page': html('<h1>Courses</h1>'),
      '/courses': json([]),
      '/courses/search': json({ detail: 'q is missing' }, 422),
      '/progress': ok,
    });
    await run(site.url);
    expect(await complaints()).toEqual([]);
    const config = await loaded();
    expect(config.routes.map(({ rewrite, scopes }) => [rewrite, ...scopes])).toEqual([
      ['/courses', 'courses:read'],
      ['/courses/search', 'courses:read'],
      ['/users/{member.id}/courses', 'courses:read'],
      ['/courses/*', 'courses:read'],
      ['/progress', 'courses:read'],
      ['/orders', 'orders:read'],
      ['/profile', 'account:read'],
      ['/users/{member.id}', 'account:read'],
    ]);
    expect(config.mcp?.tools.map(({ title, get }) => [title, get?.path])).toEqual([
      ['All courses', '/courses'],
      ['How far I am', '/progress'],
      ['My orders', '/orders'],
      ['Who I am', '/profile'],
    ]);
    expect(told.join('\n')).toMatch(/API: \/openapi\.json, with 42 readable addresses, of which 14 are proposed/);
    // Each address at most once, and none with a parameter.
    const asked = site.asked.filter(({ method }) => method === 'GET').map(({ url }) => url);
    expect(asked.filter((url) => /courses|orders/.test(url)).toSorted()).toEqual([
      '/courses',
      '/courses/broken',
      '/courses/page',
      '/courses/search',
      '/orders',
    ]);
  });

  it('of WordPress is found in an index of more than 256 KiB', async () => {
    const routes = Object.fromEntries(
      Array.from({ length: 4000 }, (_, at) => [
        `/plugin/v1/route-number-${at}`,
        {
          namespace: 'plugin/v1',
          methods: ['GET', 'POST'],
        },
      ]),
    );
    site = await startProbed({ '/wp-json/': json({ namespaces: ['wp/v2', 'llms/v1'], routes }) });
    await run(site.url);
    expect(told.join('\n')).toMatch(/Framework: probably wordpress \(wp\/v2 at \/wp-json\/\)/);
  });
});

describe('a sign-in in JSON', () => {
  const schemas = {
    Login: {
      properties: { email: { type: 'string' }, password: { type: 'string' } },
      required: ['email', 'password'],
    },
    Tokens: { properties: { user: { properties: { id: {} } }, tokens: { properties: { access_token: {} } } } },
    Me: { properties: { user: { properties: { uuid: {}, email: {}, full_name: {} } } } },
  };
  const answer = (name: string) => ({
    200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
  });
  const takes = (type: string) => ({ content: { [type]: { schema: { $ref: '#/components/schemas/Login' } } } });
  const described = (type: string) =>
    json({
      openapi: '3.1.0',
      components: { schemas },
      paths: {
        '/auth/register': { post: { requestBody: takes(type), responses: {} } },
        '/auth/login': { post: { requestBody: takes(type), responses: answer('Tokens') } },
        '/integrations/crm/me': { get: { responses: answer('Me') } },
        '/tasks/{id}/me': { get: { responses: answer('Me') } },
        '/users/me': { get: { responses: answer('Me') } },
      },
    });
  /** Refuses everything in JSON, as FastAPI does, and keeps what it was sent. */
  const refusing =
    (sent: string[], type: string, wrong = 401) =>
    async (request: IncomingMessage, response: ServerResponse) => {
      if (request.method !== 'POST') return json({ detail: 'Method Not Allowed' }, 405)(request, response);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      sent.push(Buffer.concat(chunks).toString());
      const readable = request.headers['content-type'] === type && sent.at(-1) !== '{}';
      json(
        readable
          ? { detail: 'Incorrect email or password' }
          : { detail: [{ loc: ['body', 'username'], msg: 'Field required' }] },
        readable ? wrong : 422,
      )(request, response);
    };

  it.each([
    ['json', 'application/json'],
    ['form', 'application/x-www-form-urlencoded'],
  ] as const)(
    'that the site describes gets `form` with format %s, and the token and member where it says',
    async (format, type) => {
      const sent: string[] = [];
      site = await startProbed({
        '/openapi.json': described(type),
        '/auth/login': refusing(sent, type),
        '/users/me': json({ detail: 'Not authenticated' }, 401),
      });
      await run(site.url);
      expect(await complaints()).toEqual([]);
      expect((await loaded()).login).toMatchObject({
        kind: 'form',
        action: '/auth/login',
        format,
        fields: { username: 'email', password: 'password' },
        success: { pointer: '/tokens/access_token' },
        whoami: { path: '/users/me', subject: '/user/uuid', email: '/user/email', name: '/user/full_name' },
        whoamiHeaders: { Authorization: 'Bearer {/tokens/access_token}' },
      });
      expect(sent).toHaveLength(1);
      expect(told.join('\n')).toMatch(/Sign-in: POST \/auth\/login, which answers in JSON/);
    },
  );

  it.each([
    ['json', 'application/json'],
    ['form', 'application/x-www-form-urlencoded'],
    ['form', 'application/x-www-form-urlencoded', 422],
  ] as const)('at a common address is tried with a wrong password as %s', async (format, type, wrong?: number) => {
    const sent: string[] = [];
    site = await startProbed({
      '/api/v1/auth/login': refusing(sent, type, wrong),
      '/api/v1/users/me': json({ detail: 'Not authenticated' }, 401),
    });
    await run(site.url);
    expect((await loaded()).login).toMatchObject({
      kind: 'form',
      action: '/api/v1/auth/login',
      format,
      fields: { username: 'username' },
      whoami: { path: '/api/v1/users/me', subject: '/filled-in' },
    });
    expect(read('coursegate.yaml')).toMatch(/\(2\) Enter where the token is in its answer to a right one/);
    expect(sent.join('\n')).toContain('example.com');
  });

  it('is not looked for where there is a page', async () => {
    site = await startProbed({ '/login': html('<input type="password">'), '/api/v1/auth/login': json({}, 401) });
    await run(site.url);
    expect((await loaded()).login.kind).toBe('session');
    expect(new Set(site.asked.map(({ method }) => method))).toEqual(new Set(['GET']));
  });
});

describe('the ports', () => {
  it('are a free one for the admin listener if 9090 is taken, on both sides', async () => {
    site = await startProbed(KINDS.wordpress ?? {});
    const taken = createServer();
    // Something else may have the port, which is as good.
    await new Promise<void>((resolve) => taken.once('error', () => resolve()).listen(9090, '127.0.0.1', resolve));
    try {
      await run(site.url, { adminPort: undefined });
    } finally {
      taken.close();
    }
    const { port } = (await loaded()).listen.admin;
    expect(port).toBeGreaterThan(9092);
    expect(told.join('\n')).toContain(`Port 9090 is taken: the admin listener gets ${port}`);
    expect(read('drop-in/coursegate.php')).toContain(`'http://127.0.0.1:${port}'`);
  });

  it.each([{ port: 0 }, { adminPort: 70_000 }, { adminPort: 8080 }])('are refused: %j', async (options) => {
    await expect(run('http://127.0.0.1:1', options)).rejects.toThrow(/--(port|admin-port)/);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('init --plugin', () => {
  const API = {
    '/openapi.json': json({
      openapi: '3.0.0',
      servers: [{ url: '/api' }],
      paths: { '/courses/{id}': { get: {} }, '/orders': { get: {} } },
    }),
    '/api/orders': json({ error: 'sign in' }, 401),
  };

  it.each([
    ['nginx', ['coursegate-http.conf', 'coursegate.conf'], /auth_request \/\w+\/asked\/decision;/],
    ['caddy', ['Caddyfile', 'coursegate-fields.caddy'], /forward_auth unix\/\/run\/coursegate\/decisions\.sock/],
    ['haproxy', ['coursegate.cfg', 'coursegate.lua'], /coursegate_ask/],
    ['envoy', ['envoy.yaml'], /ext_authz/],
  ] as const)(
    '%s writes a configuration with a Unix socket, and the files of the gateway',
    async (plugin, names, line) => {
      site = await startProbed(API);
      const files = await run(site.url, { plugin });
      const { listen, routes, site: passedOn } = await loaded();
      expect(passedOn).toMatchObject({ upstream: 'site' });
      expect(listen.decisions).toMatchObject({ address: { path: '/run/coursegate/decisions.sock' } });
      expect(routes.map(({ match, forwardedBy }) => [match, forwardedBy])).toEqual([
        ['GET /api/courses/*', 'gateway'],
        ['GET /api/orders', 'gateway'],
      ]);
      expect(readdirSync(join(dir, 'proxy')).toSorted()).toEqual(names);
      expect(names.map((name) => read(`proxy/${name}`)).join('')).toMatch(line);
      for (const path of files) expect(existsSync(path)).toBe(true);
      expect(told.join('\n')).toMatch(/2\. Let .* ask and forward requests: install proxy\/[\s\S]*coursegate serve/);
      expect(/nginx before 1\.23/.test(told.join('\n'))).toBe(plugin === 'nginx');
    },
  );

  it('traefik writes a configuration with a port, and a secret that only its owner can read', async () => {
    site = await startProbed(API);
    await run(site.url, { plugin: 'traefik' });
    const { listen } = await loaded();
    expect(listen.decisions).toMatchObject({ address: { host: '127.0.0.1', port: 9092 } });
    const secret = read('decisions.secret').trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(read('proxy/traefik.yaml')).toContain(`X-Coursegate-Secret: '${secret}'`);
    expect([mode('decisions.secret'), mode('proxy/traefik.yaml')]).toEqual([0o600, 0o600]);
    expect(told.join('\n')).not.toContain(secret);
  });

  it('of a site without known routes says what to do once there are some', async () => {
    await run(`http://127.0.0.1:${await freePort()}`, { plugin: 'nginx' });
    expect((await loaded()).listen.decisions).toBeDefined();
    expect(read('coursegate.yaml')).toContain('scopes: [courses:read], forwardedBy: gateway }');
    expect(existsSync(join(dir, 'proxy'))).toBe(false);
    expect(told.join('\n')).toContain('snippets --config coursegate.yaml --for nginx-auth --dir proxy');
  });

  it('of WordPress has the gateway forward all of its routes', async () => {
    site = await startProbed(KINDS.wordpress ?? {});
    await run(site.url, { plugin: 'nginx' });
    const { routes } = await loaded();
    expect(new Set(routes.map(({ forwardedBy }) => forwardedBy))).toEqual(new Set(['gateway']));
  });

  it('of LearnHouse leaves its routes to coursegate, which has to add a token and rewrite the path', async () => {
    site = await startProbed(KINDS.learnhouse ?? {});
    await run(site.url, { plugin: 'nginx' });
    const { routes, listen } = await loaded();
    expect(listen.decisions).toBeDefined();
    expect(routes.length).toBeGreaterThan(2);
    expect(new Set(routes.map(({ forwardedBy }) => forwardedBy))).toEqual(new Set([undefined]));
  });

  it.each(['site', 'observe'])('refuses a gateway that asks, together with --%s', async (option) => {
    const both = { plugin: 'nginx', [option]: true } as const;
    await expect(run('http://127.0.0.1:1', both)).rejects.toThrow(/--plugin cannot be combined/);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('init', () => {
  it('writes a usable file for a site that is down, and for a framework given as an option', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    await run(nobody);
    expect(told.join('\n')).toMatch(/The site did not answer \(nothing is listening there\)/);
    expect((await loaded()).login.kind).toBe('session');
    expect(read('coursegate.yaml')).toMatch(/\(1\) No address that identifies the member was found/);
    rmSync(dir, { recursive: true });
    await run(nobody, { framework: 'laravel' });
    expect((await loaded()).login.kind).toBe('bridge');
  });

  it('overwrites nothing without --force, and with it replaces a link instead of following it', async () => {
    site = await startProbed(KINDS.rails ?? {});
    mkdirSync(join(dir, 'proxy'));
    writeFileSync(join(dir, 'proxy/nginx.conf'), 'mine');
    await expect(run(site.url)).rejects.toThrow(/Nothing was written: proxy\/nginx\.conf already exists/);
    expect(readdirSync(dir)).toEqual(['proxy']);
    const elsewhere = join(dir, 'elsewhere');
    writeFileSync(elsewhere, 'theirs', { mode: 0o644 });
    symlinkSync(elsewhere, join(dir, '.env'));
    await run(site.url, { force: true });
    expect(read('proxy/nginx.conf')).toMatch(/^# coursegate/);
    expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
    expect(mode('.env')).toBe(0o600);
  });

  it('writes nothing without confirmation', async () => {
    site = await startProbed(KINDS.django ?? {});
    expect(await run(site.url, { agree: async () => false })).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each([
    [{ site: true }, 'enforce', []],
    // So that signed-in members can be distinguished, whatever the kind of sign-in.
    [{ observe: true }, 'observe', ['sessionid']],
  ] as const)('with %j routes the site through the gate, mode %s', async (more, expected, cookies) => {
    site = await startProbed(KINDS.django ?? {});
    await run(site.url, more);
    const config = await loaded();
    expect(config.enforcement).toEqual({ mode: expected, cookies });
    expect(config.site).toBeDefined();
  });

  it('warns if the upstream is the public address', async () => {
    site = await startProbed({});
    await run(site.url, { origin: undefined });
    expect(told.join('\n')).toMatch(/requests will loop/);
  });
});

describe('a hostile site', () => {
  it('cannot redirect init to another host', async () => {
    const other = await startProbed({});
    try {
      site = await startProbed(
        {},
        (_request, response) => void response.writeHead(302, { location: `${other.url}/x` }).end(),
      );
      await run(site.url);
      expect(other.asked).toEqual([]);
      // The site is not asked about resources on other hosts either.
      expect(site.asked.filter(({ url }) => url === '/x')).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('cannot get a login page on another host proposed', async () => {
    site = await startProbed({ '/': html('<a href="//accounts.elsewhere.example/login">Log in</a>') });
    await run(site.url);
    expect(read('coursegate.yaml') + told.join('\n')).not.toContain('elsewhere');
  });

  it('with redirect loops, endless responses or none is abandoned in time', async () => {
    site = await startProbed(
      {
        '/': (_request, response) => void response.writeHead(302, { location: '/' }).end(),
        '/wp-json/': (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          const more = () => {
            while (!response.destroyed && response.write(' '.repeat(65_536)));
          };
          response.on('drain', more);
          more();
        },
      },
      () => undefined,
    );
    await run(site.url, { patience: 300, whole: 3000 });
    expect((await loaded()).upstreams).toHaveProperty('site');
    expect(site.asked.filter(({ url }) => url === '/').length).toBeLessThan(6);
  });

  it.each([
    '<meta generator ',
    'name="log" ',
    '<input ',
    'href="/login',
    '<meta keywords ',
    'csrf-param" ',
    '<title',
    '<a href="/aaaaaaaaaaaaaaaaaaaa',
  ])('with pages full of %j does not use much CPU', async (piece) => {
    site = await startProbed({}, html(piece.repeat(Math.ceil(262_144 / piece.length))));
    // Measures the detection, not the requests: quadratic patterns would take minutes here.
    const before = process.cpuUsage();
    await run(site.url);
    expect(process.cpuUsage(before).user / 1e6 / slowness()).toBeLessThan(20);
  });

  it('that does not speak HTTP is reported clearly', async () => {
    const noise = createServer((socket) => socket.on('error', () => undefined).end('\u001b[31mnot http\r\n\r\n'));
    await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve));
    try {
      await run(`http://127.0.0.1:${(noise.address() as { port: number }).port}`);
      expect(told.join('\n')).toMatch(/The site did not answer/);
    } finally {
      noise.close();
    }
  });

  it('cannot inject anything into the file or the terminal', async () => {
    const evil = 'x"\n  evil: true\n# \u001b[31m';
    site = await startProbed({
      '/': html(`<title>${evil}</title><a href="/a'b/login">x</a>`, {
        'set-cookie': [
          'a"b_session=1',
          'sess\u00e9=1',
          'coursegate_session=1',
          '__Host-coursegate_session=1',
          '*session*=1',
          'good_session=1',
        ],
      }),
      '/login': html('<input name="next"><input type="password">'),
      '/openapi.json': json({
        openapi: '3.0.0',
        paths: {
          '/courses\n- evil': { get: {} },
          '/courses/{a}x': { get: {} },
          '/courses/../x': { get: {} },
          '/orders/"}': { get: {} },
          '/oauth/courses': { get: {} },
          '/courses/**': { get: {} },
          '/courses': { get: {} },
          '/courses/': { get: {} },
          __proto__: { get: {} },
        },
      }),
      '/courses': json([]),
      '/courses/': json([]),
      '/courses/**': json([]),
      '/oauth/courses': json([]),
    });
    await run(site.url);
    const config = await loaded();
    expect(config.name).toBe('school.example');
    expect(config.login).toMatchObject({ cookies: ['good_session'] });
    expect(config.routes.map(({ rewrite }) => rewrite)).toEqual(['/courses', '/courses/']);
    expect(parse(read('coursegate.yaml'))).not.toHaveProperty('evil');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(told.join('\n') + read('coursegate.yaml')).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe('coursegate init', () => {
  it('of a site without a framework says which lines to fill in, and nothing starts before', async () => {
    site = await startProbed({ '/': html('<title>School</title>') });
    const command = runCommand(['init', '--upstream', site.url, '--origin', ORIGIN, '--dir', dir]);
    expect(await command.exited).toBe(0);
    const said = /Fill in these (\d+) lines: ([\d, ]+) of coursegate\.yaml, where it says FILL-IN/.exec(
      command.stderr(),
    );
    const lines = read('coursegate.yaml').split('\n');
    const numbers = (said?.[2] ?? '').split(', ').map(Number);
    expect(numbers.map((number) => lines[number - 1]?.trim().split(':')[0])).toEqual([
      'whoami',
      'loginUrl',
      'returnParam',
      'cookies',
    ]);
    expect(command.stderr()).toContain(
      `4. Connect to it as a member, as an app does: npx coursegate connect ${ORIGIN}`,
    );
    const file = join(dir, 'coursegate.yaml');
    for (const args of [
      ['check', file],
      ['serve', '--config', file],
    ]) {
      const refused = runCommand(args);
      expect(await refused.exited).toBe(78);
      for (const number of numbers)
        expect(refused.stderr()).toMatch(new RegExp(`coursegate\\.yaml:${number}:\\d+ .*is not filled in`));
    }
    expect((await loadedAll()).admin.hmac).toHaveLength(1);
    expect(mode('admin.secret')).toBe(0o600);
  });

  it('prints file names to standard output, and findings and next steps to standard error', async () => {
    site = await startProbed(KINDS.wordpress ?? {});
    const command = runCommand(['init', '--upstream', site.url, '--origin', ORIGIN, '--dir', dir, '--yes']);
    expect(await command.exited).toBe(0);
    expect(command.stdout().trim().split('\n')).toContain(join(dir, 'coursegate.yaml'));
    expect(command.stderr()).toMatch(/Framework: wordpress[\s\S]*Next steps/);
    const check = runCommand(['check', join(dir, 'coursegate.yaml')]);
    expect(await check.exited).toBe(0);
    const again = runCommand(['init', '--upstream', site.url, '--dir', dir]);
    expect(await again.exited).toBe(1);
    expect(again.stdout()).toBe('');
    expect(again.stderr()).toMatch(/--force/);
  });

  it('recognises the demo’s own school, and leaves nothing to fill in', async () => {
    const school = await startSchool({
      ports: { school: 0, progress: 0, events: 0 },
      gate: () => undefined,
      clock: Date.now,
    });
    try {
      const command = runCommand(['init', '--upstream', school.urls.school, '--origin', ORIGIN, '--dir', dir, '--yes']);
      expect(await command.exited).toBe(0);
      for (const line of [
        'Sign-in page: /login. Session cookies: school_session.',
        'Address that identifies the member: /api/me.',
        'API: /api/openapi.json, with 4 readable addresses, of which 4 are proposed.',
      ])
        expect(command.stderr()).toContain(`\n${line}\n`);
      expect(command.stderr()).toMatch(
        /Next steps:[\s\S]* check coursegate\.yaml\n[\s\S]* serve --config coursegate\.yaml\n[\s\S]* doctor https:\S+\n[\s\S]* connect https:\S+\n$/,
      );
      const check = runCommand(['check', '--strict', join(dir, 'coursegate.yaml')]);
      expect([await check.exited, check.stderr()]).toEqual([0, '']);
      expect(parse(readFileSync(join(dir, 'coursegate.yaml'), 'utf8'))).toMatchObject({
        name: 'Harbour Lane School',
        login: {
          whoami: { path: '/api/me', subject: '/id', email: '/email', name: '/name' },
          loginUrl: `${ORIGIN}/login`,
          returnParam: 'return_to',
          cookies: ['school_session'],
        },
      });
    } finally {
      await school.close();
    }
  });

  it.each([
    [['--upstream', 'ftp://x']],
    [['--upstream', 'http://a:b@127.0.0.1']],
    [['--upstream', 'http://127.0.0.1:1', '--origin', 'https://school.example/path']],
    [['--upstream', 'http://127.0.0.1:1', '--framework', 'cobol']],
  ])('refuses %j', async (args) => {
    const command = runCommand(['init', '--dir', dir, ...args]);
    expect(await command.exited).toBe(64);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toMatch(/--(upstream|origin) must be|'--framework <name>' argument 'cobol' is invalid/);
    expect(readdirSync(dir)).toEqual([]);
  });
});
