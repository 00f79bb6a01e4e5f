import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const ROUTE = '  - { match: "GET /api/v1/**", upstream: school, scopes: [courses:read] }\n';
/** A configuration without warnings. */
const GOOD = `${SMALL}listen: { trustedProxies: [loopback] }\nroutes:\n${ROUTE}`;

/** Returns each warning as `line  path: message`. */
async function warnings(text: string): Promise<readonly string[]> {
  const loaded = await load(text);
  return loaded.warnings.map(({ line, path, message }) => `${line}  ${path}: ${message}`);
}

const route = (match: string, more = '') => `  - { match: "${match}", upstream: school${more} }\n`;
const READ = ', scopes: [courses:read]';
const WRITE = ', scopes: [courses:write]';

describe('the warnings of a configuration', () => {
  it('are empty for a good one', async () => {
    expect(await warnings(GOOD)).toEqual([]);
  });

  it.each([
    [
      'https without a trusted proxy',
      GOOD.replace('listen: { trustedProxies: [loopback] }\n', ''),
      '1  listen.trustedProxies: is empty, but TLS ends at a proxy in front of the gate: all clients appear with the address of that proxy and share the limits of one client. List the proxy, such as [loopback]',
    ],
    [
      'a pointer to an element of a list',
      GOOD.replace('whoami: { path: /api/me', 'whoami: { subject: /data/0/id, path: /api/me'),
      '8  login.whoami.subject: chooses an element of a list. If the response has several, the gate takes none of them and answers 503: use a URL whose response is about this member only',
    ],
    [
      'a claim at an element of a list',
      `${GOOD}claims: { role: { scope: profile, from: /roles/0 } }\n`,
      '17  claims.role.from: chooses an element of a list. If the response has several, the gate takes none of them and answers 503: use a URL whose response is about this member only',
    ],
    [
      'a store in memory',
      GOOD.replace('{ kind: sqlite, path: data/gate.db }', '{ kind: memory }'),
      '4  store.kind: loses everything at a restart: members must reconnect their apps',
    ],
    [
      'an unused upstream',
      GOOD.replace('upstreams:\n', 'upstreams:\n  old: { url: http://127.0.0.1:4009 }\n'),
      '12  upstreams.old: is not used by anything',
    ],
    [
      'an unused scope',
      `${GOOD}scopes: { "books:read": { title: See books, kind: read } }\n`,
      '17  scopes["books:read"]: is not required by anything: granting it gives access to nothing',
    ],
    [
      'an upstream on the internet without TLS',
      GOOD.replace('http://127.0.0.1:4000', 'http://backend.school.example'),
      '12  upstreams.school.url: sends the identity and data of members unencrypted to backend.school.example: use https, or a private network',
    ],
    [
      'a public address without TLS',
      GOOD.replace('http://127.0.0.1:4000', 'http://203.0.113.9'),
      '12  upstreams.school.url: sends the identity and data of members unencrypted to 203.0.113.9: use https, or a private network',
    ],
    [
      'overlapping routes with different protection',
      `${GOOD.replace(ROUTE, '')}${route('GET /a/*/c', READ)}${route('GET /a/b/*', WRITE)}`,
      '17  routes[1].match: shares paths with routes[0] (GET /a/*/c), which protects them differently and applies to them because it comes first',
    ],
    [
      'writing without a token',
      `${GOOD}${route('GET|POST /b', ', anonymous: serve')}`,
      '17  routes[1].anonymous: lets anyone make changes without a token',
    ],
    [
      'long-lived access tokens',
      `${GOOD}tokens: { access: 2h }\n`,
      '17  tokens.access: is longer than an hour: a stolen token stays usable that long',
    ],
    [
      'a lifetime without effect',
      `${GOOD}tokens: { refresh: 30d, refreshAbsolute: 7d }\n`,
      '17  tokens.refresh: has no effect: refreshAbsolute is shorter',
    ],
    [
      'a tool with a proposed description',
      `${GOOD}mcp: { signIn: never, tools: [{ name: list, title: List, description: "TODO: say what it returns and when to use it. List.", scopes: [courses:read], route: GET /api/v1/courses }] }\n`,
      '17  mcp.tools[0].description: is still the one that was proposed: models choose tools by their descriptions',
    ],
    [
      'nothing for apps to access',
      GOOD.replace(`routes:\n${ROUTE}`, ''),
      '1  routes: is empty, and there is neither an Account API nor a tool: apps can connect but have nothing to access',
    ],
  ])('include %s', async (_, text, warning) => {
    expect(await warnings(text)).toEqual([warning]);
  });

  it.each([
    ['an upstream with an internal name', GOOD.replace('127.0.0.1:4000', 'backend:4000')],
    ['an upstream in a private network', GOOD.replace('127.0.0.1:4000', '10.1.2.3')],
    ['an upstream in the cluster', GOOD.replace('127.0.0.1:4000', 'backend.school.svc')],
    ['an upstream with TLS', GOOD.replace('http://127.0.0.1:4000', 'https://backend.school.example')],
    [
      'http on this machine',
      GOOD.replace('https://school.example', 'http://localhost:8080').replace(
        'listen: { trustedProxies: [loopback] }\n',
        '',
      ),
    ],
    [
      'a narrow route before a wide one',
      `${GOOD.replace(ROUTE, '')}${route('GET /a/b', WRITE)}${route('GET /a/**', READ)}`,
    ],
    [
      'overlapping routes with equal protection',
      `${GOOD.replace(ROUTE, '')}${route('GET /a/*/c', READ)}${route('GET /a/b/*', READ)}`,
    ],
    [
      'overlapping routes with different methods',
      `${GOOD.replace(ROUTE, '')}${route('GET /a/*/c', READ)}${route('PUT /a/b/*', WRITE)}`,
    ],
    ['reading without a token', `${GOOD}${route('GET /b', ', anonymous: serve')}`],
    ['a scope that identifies the member', `${GOOD}scopes: { picture: { title: See your picture, kind: identity } }\n`],
    ['tools without routes', `${GOOD.replace(`routes:\n${ROUTE}`, '')}mcp: { signIn: never }\n`],
    ['another title for a scope of the catalogue', `${GOOD}scopes: { "students:read": { title: See pupils } }\n`],
  ])('do not include %s', async (_, text) => {
    expect(await warnings(text)).toEqual([]);
  });
});

describe('a narrow route after a wide one', () => {
  const routes = (...lines: readonly string[]) => `${GOOD.replace(ROUTE, '')}${lines.join('')}`;

  it.each([
    [
      'GET /a/**',
      'GET /a/b',
      'never applies: routes[0] (GET /a/**) comes before it and matches all of its paths. Put the narrower route first',
    ],
    [
      'GET /a/*',
      'GET|PUT /a/b',
      'for GET never applies: routes[0] (GET /a/*) comes before it and matches all of its paths. Put the narrower route first',
    ],
    [
      '* /a/**',
      'GET|PUT /a/*/c',
      'never applies: routes[0] (* /a/**) comes before it and matches all of its paths. Put the narrower route first',
    ],
    [
      'GET /a/**',
      'GET /a',
      'never applies: routes[0] (GET /a/**) comes before it and matches all of its paths. Put the narrower route first',
    ],
  ])('%s, then %s, is refused if their protection differs', async (wide, narrow, message) => {
    const text = routes(route(wide, READ), route(narrow, WRITE));
    expect(await mistakes(text)).toEqual([`gate.yaml:17:14  routes[1].match: ${message}`]);
    expect((await load(routes(route(narrow, WRITE), route(wide, READ)))).warnings).toEqual([]);
    expect((await load(routes(route(wide, READ), route(narrow, READ)))).warnings).toEqual([]);
  });

  it.each([
    ['GET /a/*', 'GET /a/b/c'],
    ['GET /a/**', 'PUT /a/b'],
    ['GET /a/*', 'GET /a/'],
    ['GET /a/b', 'GET /a/*'],
    ['GET /a/*', 'GET /a/**'],
  ])('is not found in %s, then %s', async (first, second) => {
    expect((await load(routes(route(first, READ), route(second, WRITE)))).config.routes).toHaveLength(2);
  });
});

describe('a route at an address that the site’s own pages call', () => {
  const routes = (...lines: readonly string[]) => `${GOOD.replace(ROUTE, '')}${lines.join('')}`;
  const refused = (by: string) =>
    `takes over an address that is called by ${by}, would refuse them, and is not meant for apps: remove this route`;
  const moved = (by: string, match: string, path: string) =>
    `takes over an address that is called by ${by} with the site's own session or keys, and would refuse them. Give apps an address of their own: match: "${match}", rewrite: "${path}"`;

  it.each([
    [
      'GET /wp-json/ldlms/v2/**',
      moved('the pages of WordPress', 'GET /api/site/wp-json/ldlms/v2/**', '/wp-json/ldlms/v2/**'),
    ],
    [
      'GET|POST /wp-json/wp/v2/posts/*',
      moved('the pages of WordPress', 'GET|POST /api/site/wp-json/wp/v2/posts/*', '/wp-json/wp/v2/posts/*'),
    ],
    ['GET /api/resource/*', moved('the pages of Frappe', 'GET /api/site/api/resource/*', '/api/resource/*')],
    ['POST /wp-admin/admin-ajax.php', refused('the pages of WordPress')],
    ['POST /wp-json/batch/v1', refused('the pages of WordPress')],
    ['POST /lib/ajax/service.php', refused('the pages of Moodle')],
    ['GET /lib/**', refused('the pages of Moodle')],
    ['POST /livewire/*', refused('the pages of Laravel packages')],
    ['GET /rails/**', refused('the pages of Rails')],
    ['GET /admin/orders', refused('the site’s administration')],
    [
      'GET /api/me',
      'takes over login.whoami.path, which answers to the site\'s own session: pages that call it would be refused. Give apps an address of their own: match: "GET /api/site/api/me", rewrite: "/api/me"',
    ],
    ['GET /login/**', 'takes over the page on which members sign in: choose a narrower path'],
  ])('%s is found', async (match, message) => {
    expect(await warnings(routes(route(match, READ)))).toEqual([`16  routes[0].match: ${message}`]);
  });

  it('is found at each address of the frameworks', async () => {
    const api = [
      '/wp-json/a/**',
      ...['method', 'resource', 'v2/method', 'v2/document'].map((name) => `/api/${name}/**`),
    ];
    const pages = [
      ...['/wp-admin/**', '/wp-login.php', '/wp-comments-post.php', '/xmlrpc.php', '/wp-cron.php', '/wp-json/batch/**'],
      ...['/lib/ajax/**', '/webservice/**', '/pluginfile.php/**', '/repository/repository_ajax.php', '/r.php/**'],
      ...['/livewire/**', '/sanctum/**', '/broadcasting/**', '/nova-api/**', '/filament/**', '/horizon/**'],
      ...['/telescope/**', '/rails/**', '/cable', '/__debug__/**', '/i18n/setlang/', '/admin/**'],
    ];
    const found = await warnings(routes(...[...pages, ...api].map((path) => route(`GET ${path}`, READ))));
    const kinds = found.map((line) =>
      /routes\[(\d+)\]\.match: takes over.*(remove this route|Give apps)/.exec(line)?.slice(1),
    );
    expect(kinds).toEqual(
      [...pages, ...api].map((_, at) => [`${at}`, at < pages.length ? 'remove this route' : 'Give apps']),
    );
  });

  it('is found with a rewrite too, because the address is the same', async () => {
    const found = await warnings(routes(route('GET /wp-json/a/**', `${READ}, rewrite: "/b/**"`)));
    expect(found).toEqual([expect.stringContaining('match: "GET /api/site/wp-json/a/**", rewrite: "/b/**"')]);
  });

  it.each([
    'GET /wp-json/coursegate/v1/me/courses',
    'GET /api/site/wp-json/ldlms/v2/**',
    'GET /api/v2/**',
    'GET /api/v1/admin/orders',
  ])('is not %s', async (match) => {
    expect(await warnings(routes(route(match, `${READ}, rewrite: "${match.slice(4)}"`)))).toEqual([]);
  });

  it('is not found if the site has another origin', async () => {
    const apart = routes(route('GET /wp-json/ldlms/v2/**', READ))
      .replace('loginUrl: /login', 'loginUrl: https://www.school.example/login')
      .replace('site: { upstream: school }\n', '');
    expect(await warnings(apart)).toEqual([]);
  });
});

describe('a sign-in page on another host', () => {
  const at = (url: string) => GOOD.replace('loginUrl: /login', `loginUrl: ${url}`);

  it.each(['https://login.other.example/in', 'https://schools.example/login', 'https://127.0.0.1/login'])(
    '%s is refused, because its session cookie does not reach the origin',
    async (url) => {
      const [mistake] = await mistakes(at(url));
      expect(mistake).toBe(
        `gate.yaml:9:13  login.loginUrl: is at ${new URL(url).hostname}, whose cookies browsers do not send to school.example: \`session\` needs both under one domain. Across domains, use \`bridge\``,
      );
    },
  );

  it('is compared by the whole IP address', async () => {
    const [mistake] = await mistakes(at('https://10.1.0.1/in').replace('https://school.example', 'https://10.2.0.1'));
    expect(mistake).toContain('is at 10.1.0.1, whose cookies browsers do not send to 10.2.0.1');
  });

  it('can use http if the origin does', async () => {
    const text = at('http://localhost:4000/login').replace('https://school.example', 'http://localhost:8080');
    expect((await load(text)).config.login).toMatchObject({ loginUrl: 'http://localhost:4000/login' });
  });

  it('must use https if the origin does', async () => {
    expect(await mistakes(at('http://login.school.example/in'))).toEqual([
      'gate.yaml:9:13  login.loginUrl: must be https like the origin: otherwise the page on which members enter passwords could be tampered with',
    ]);
  });

  it.each(['https://login.school.example/in', 'https://school.example/in', '/in'])('can be %s', async (url) => {
    expect((await load(at(url))).warnings).toEqual([]);
  });
});
