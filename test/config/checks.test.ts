import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const route = (match: string, rest = '') => `  - { match: "${match}", upstream: school${rest} }\n`;
const routes = (...lines: string[]) => `${SMALL}routes:\n${lines.join('')}anonymous: refuse\n`;

describe('references to unknown names', () => {
  it.each([
    [
      SMALL.replace('  upstream: school', '  upstream: scool'),
      'gate.yaml:7:13  login.upstream: there is no upstream "scool" (did you mean "school"?)',
    ],
    [
      SMALL.replace('site: { upstream: school }', 'site: { upstream: web }'),
      'gate.yaml:13:19  site.upstream: there is no upstream "web"',
    ],
    [
      routes('  - { match: "GET /x", upstream: shool }\n'),
      'gate.yaml:15:34  routes[0].upstream: there is no upstream "shool" (did you mean "school"?)',
    ],
    [
      routes(route('GET /x', ', scopes: [openid, course:read]')),
      'gate.yaml:15:59  routes[0].scopes[1]: there is no scope "course:read" in the catalogue (did you mean "courses:read"?)',
    ],
    [
      routes(route('GET /x', ', scopes: [constructor]')),
      'gate.yaml:15:51  routes[0].scopes[0]: there is no scope "constructor" in the catalogue',
    ],
  ])('case %#', async (text, line) => {
    expect(await mistakes(text)).toEqual([line]);
  });
});

describe('route rewrites', () => {
  const rewritten = (match: string, rewrite: string) => routes(route(match, `, rewrite: "${rewrite}"`));

  it.each([
    ['GET /a/**', '/b', 'must have the same wildcards as match: **'],
    ['GET /a/*/b', '/b/**', 'must have the same wildcards as match: *'],
    ['GET /a', '/b/*', 'must have the same wildcards as match: none'],
    ['GET /a/**', '/b/**/c', '`**` must be the last path segment'],
    ['GET /a', '/b/../c', 'must be a plain path, without ?, #, \\, empty segments, . or ..'],
    ['GET /a', 'b', 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;'],
    ['GET /a', '/b;c', 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;'],
  ])('from %s to %s are refused', async (match, rewrite, message) => {
    const column = 14 + match.length + 2 + ', upstream: school, rewrite: '.length;
    expect(await mistakes(rewritten(match, rewrite))).toEqual([
      `gate.yaml:15:${column}  routes[0].rewrite: ${message}`,
    ]);
  });

  it('with the same wildcards are accepted', async () => {
    expect((await load(rewritten('GET /a/*/**', '/x/*/y/**'))).config.routes[0]?.rewrite).toBe('/x/*/y/**');
  });
});

describe('an origin', () => {
  it.each([
    ['https://school.example/', 'must not end with a slash: https://school.example'],
    ['https://school.example/gate', 'must have no path (/gate): https://school.example'],
    ['https://school.example/gate/', 'must have no path (/gate/): https://school.example'],
    ['http://school.example', 'must be https, except on localhost: https://school.example'],
    [
      'http://school.example/',
      'must be https, except on localhost, and must not end with a slash: https://school.example',
    ],
    ['https://school.example?x=1', 'must have neither query nor fragment: https://school.example'],
    ['https://School.Example:443', 'must be written as https://school.example'],
    ['school.example', 'must be an origin such as https://school.example'],
    ['ftp://school.example', 'must be an origin such as https://school.example'],
  ])('%s is refused', async (origin, message) => {
    const found = await mistakes(SMALL.replace(/^origin: .*$/m, `origin: ${JSON.stringify(origin)}`));
    expect(found).toContainEqual(expect.stringMatching(/^gate\.yaml:\d+:9 {2}origin: /));
    expect(found.find((one) => one.includes('  origin: '))?.split('  origin: ')[1]).toBe(message);
  });
});

describe('route patterns', () => {
  it.each([
    ['GET /.well-known/x', "matches /.well-known/**, which is coursegate's own: choose a narrower path"],
    ['GET /.well-known', "matches /.well-known/**, which is coursegate's own: choose a narrower path"],
    ['GET /oauth/**', "matches /oauth/**, which is coursegate's own: choose a narrower path"],
    ['GET /api/oauth/token', "matches /api/oauth/**, which is coursegate's own: choose a narrower path"],
    ['GET /api/**', "matches /api/oauth/**, which is coursegate's own: choose a narrower path"],
    ['GET /api/*/x', "matches /api/oauth/**, which is coursegate's own: choose a narrower path"],
    ['* /**', "matches /.well-known/**, which is coursegate's own: choose a narrower path"],
    ['POST /account/graphql', "matches /account/graphql, which is coursegate's own: choose a narrower path"],
    ['GET /account/*', "matches /account/graphql, which is coursegate's own: choose a narrower path"],
    ['GET /mcp', "matches /mcp, which is coursegate's own: choose a narrower path"],
    ['GET /mcp/', "matches /mcp, which is coursegate's own: choose a narrower path"],
    ['GET /mcp/**', "matches /mcp, which is coursegate's own: choose a narrower path"],
    ['GET /openapi.json', "matches /openapi.json, which is coursegate's own: choose a narrower path"],
    ['GET /auth.md', "matches /auth.md, which is coursegate's own: choose a narrower path"],
    ['GET /a/**/b', '`**` must be the last path segment'],
    ['GET /a/x**', '`*` and `**` must be complete path segments'],
    ['GET /a//b', 'must be a plain path, without ?, #, \\, empty segments, . or ..'],
    ['GET /a/../b', 'must be a plain path, without ?, #, \\, empty segments, . or ..'],
    ['GET /a?b=1', 'must be a plain path, without ?, #, \\, empty segments, . or ..'],
    ['GETT /a', '"GETT" is not a method that a request can have here (did you mean "GET"?)'],
    ['GET|PSOT /a', '"PSOT" is not a method that a request can have here (did you mean "POST"?)'],
    ['XYZZY /a', '"XYZZY" is not a method that a request can have here'],
    ['CONNECT /a', '"CONNECT" is not a method that a request can have here'],
    ['get /a', 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"'],
    ['GET a', 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"'],
  ])('%s is refused', async (match, message) => {
    expect(await mistakes(routes(route(match)))).toEqual([`gate.yaml:15:14  routes[0].match: ${message}`]);
  });

  it.each([
    ['GET /api/v1/courses/**'],
    ['* /api/v1/x'],
    ['GET|POST /accounts/graphql'],
    ['GET /account'],
    ['PATCH|DELETE|OPTIONS|HEAD /a'],
    ['PROPFIND|MKCOL|LOCK|REPORT|QUERY /dav/**'],
    ['GET /oauth2/x'],
    ['GET /mcp/x'],
    ['GET /a/*/b'],
    ['GET /'],
    ['GET /a/'],
  ])('%s is accepted', async (match) => {
    expect((await load(routes(route(match)))).config.routes).toHaveLength(1);
  });
});

describe('a duplicate route', () => {
  it.each([
    ['GET /x', 'GET /x'],
    ['GET|POST /x', 'POST /x'],
    ['* /x', 'GET /x'],
    ['* /x', '* /x'],
  ])('%s, then %s', async (first, second) => {
    expect(await mistakes(routes(route(first), route(second)))).toEqual([
      'gate.yaml:16:14  routes[1].match: is already matched by routes[0]',
    ]);
  });

  it.each([
    ['GET /x', 'POST /x'],
    ['GET /x', '* /x'],
    ['GET /x', 'GET /x/**'],
  ])('is not reported for %s, then %s', async (first, second) => {
    expect((await load(routes(route(first), route(second)))).config.routes).toHaveLength(2);
  });
});

describe('the login page', () => {
  const withoutSite = SMALL.replace('site: { upstream: school }\n', '');

  it('given as a path needs a site', async () => {
    expect(await mistakes(withoutSite)).toEqual([
      'gate.yaml:9:13  login.loginUrl: a path needs `site`, which serves the login page at `origin`; otherwise give the full URL of the login page',
    ]);
  });

  it('on another host needs none', async () => {
    const { config } = await load(
      withoutSite.replace('loginUrl: /login', 'loginUrl: https://www.school.example/login'),
    );
    expect(config.site).toBeUndefined();
  });
});

describe('routes to a member’s own records', () => {
  const own = '/m/{member.id}/orders';
  it.each([
    ['GET /m/{member.idd}/x', '', 'there is no "{member.idd}" (did you mean "{member.id}"?)'],
    ['GET /m/x{member.id}', '', 'there is no "x{member.id}" (did you mean "{member.id}"?)'],
    ['GET /m/{id}', '', 'there is no "{id}"; use {member.id} as a complete path segment or value'],
    [
      `GET ${own}`,
      ', anonymous: serve',
      'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`',
    ],
    [
      'GET /m',
      ', query: { user_id: "{member.id}" }, anonymous: serve',
      'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`',
    ],
    [
      'POST /m',
      ', body: { user_id: "{member.id}" }, anonymous: serve',
      'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`',
    ],
    [
      'GET /m',
      ', rewrite: "/m/{member.id}", anonymous: serve',
      'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`',
    ],
  ])('%s%s is refused', async (match, rest, message) => {
    expect(await mistakes(routes(route(match, rest)))).toEqual([`gate.yaml:15:14  routes[0].match: ${message}`]);
  });

  it.each(['GET /m', '* /m', 'POST|HEAD /m'])('%s cannot set a body', async (match) => {
    expect(await mistakes(routes(route(match, ', body: { user_id: "{member.id}" }')))).toEqual([
      'gate.yaml:15:14  routes[0].match: sets `body`, but GET requests have no body: list the other methods',
    ]);
    expect(
      (await load(routes(route('POST|DELETE /m', ', body: { user_id: "{member.id}" }')))).config.routes,
    ).toHaveLength(1);
  });

  it('a body member must be {member.id}', async () => {
    expect(await mistakes(routes(route('POST /m', ', body: { user_id: "m-1" }')))).toEqual([
      expect.stringMatching(/^gate\.yaml:15:\d+ {2}routes\[0\]\.body\.user_id: there is no "m-1"/),
    ]);
  });

  it('a query parameter must be {member.id}', async () => {
    expect(await mistakes(routes(route('GET /m', ', query: { user_id: "m-1" }')))).toEqual([
      expect.stringMatching(/^gate\.yaml:15:\d+ {2}routes\[0\]\.query\.user_id: there is no "m-1"/),
    ]);
  });

  it.each([
    ['/a/{member.idd}', 'there is no "{member.idd}" (did you mean "{member.id}"?)'],
    ['/a/x-{member.id}', 'there is no "x-{member.id}" (did you mean "{member.id}"?)'],
    ['/a/{id}', 'there is no "{id}"; use {member.id} as a complete path segment or value'],
  ])('a rewrite to %s is refused', async (rewrite, message) => {
    expect(await mistakes(routes(route('GET /m', `, rewrite: "${rewrite}"`)))).toEqual([
      `gate.yaml:15:51  routes[0].rewrite: ${message}`,
    ]);
  });

  it('a rewrite can contain {member.id} anywhere, and the wildcards of match', async () => {
    const rewritten = (match: string, to: string) => routes(route(match, `, rewrite: "${to}"`));
    for (const [match, to] of [
      ['GET /my/**', '/m/{member.id}/**'],
      ['GET /m/{member.id}/*', '/x/*/{member.id}'],
      ['GET /m/{member.id}', '/me'],
    ] as const)
      expect((await load(rewritten(match, to))).config.routes[0]?.rewrite).toBe(to);
    expect(await mistakes(rewritten('GET /m/{member.id}', '/m/*'))).toEqual([
      'gate.yaml:15:63  routes[0].rewrite: must have the same wildcards as match: none',
    ]);
  });

  it.each([
    ', query: { user_id: "{member.id}" }',
    ', body: { user_id: "{member.id}" }',
    ', rewrite: "/m/{member.id}/orders"',
  ])('a wider route before one with%s is refused, unless it is also restricted to the member', async (own) => {
    expect(await mistakes(routes(route('POST /my/**'), route('POST /my/orders', own)))).toEqual([
      "gate.yaml:16:14  routes[1].match: comes after routes[0], which serves these paths for every member's records: put this route first",
    ]);
    const kept = own.startsWith(', rewrite') ? ', rewrite: "/m/{member.id}/**"' : own;
    for (const both of [
      [route('POST /my/orders', own), route('POST /my/**')],
      [route('POST /my/**', kept), route('POST /my/orders', own)],
    ])
      expect((await load(routes(...both))).config.routes).toHaveLength(2);
  });

  it('a duplicate route is reported once', async () => {
    expect(await mistakes(routes(route('* /m'), route('GET /m', ', query: { user_id: "{member.id}" }')))).toEqual([
      'gate.yaml:16:14  routes[1].match: is already matched by routes[0]',
    ]);
  });

  it.each(['GET /m/**', 'GET|POST /m/*/orders', '* /m/*/orders'])('%s before them is refused', async (wide) => {
    expect(await mistakes(routes(route(wide), route(`GET ${own}`)))).toEqual([
      "gate.yaml:16:14  routes[1].match: comes after routes[0], which serves these paths for every member's records: put this route first",
    ]);
    expect((await load(routes(route(`GET ${own}`), route(wide)))).config.routes).toHaveLength(2);
  });
});

describe('a route whose requests members approve', () => {
  const SCOPED = ', scopes: [courses:write], approve: true';
  it.each([
    [
      'without scopes',
      route('POST /a', ', approve: true'),
      'only for routes with scopes: without a member, nobody could approve',
    ],
    [
      'with an empty list of scopes',
      route('POST /a', ', scopes: [], approve: true'),
      'only for routes with scopes: without a member, nobody could approve',
    ],
    [
      'for reading only',
      route('GET|HEAD|OPTIONS /a', SCOPED),
      'only for routes that change something: this one only reads',
    ],
  ])('is refused %s', async (_, line, message) => {
    expect(await mistakes(routes(line))).toEqual([expect.stringContaining(`routes[0].approve: is ${message}`)]);
  });

  it.each([
    ['the route', routes(route('POST /a', `${SCOPED}, anonymous: serve`))],
    ['all routes', routes(route('POST /a', SCOPED)).replace('anonymous: refuse', 'anonymous: serve')],
  ])('cannot serve requests without a token, by the setting of %s', async (_, text) => {
    expect(await mistakes(text)).toEqual([
      expect.stringContaining(
        'routes[0].approve: needs a member, but this route serves requests without a token: set `anonymous: refuse`',
      ),
    ]);
  });

  it('may read as well, serve every method, or say that it holds nothing', async () => {
    const lines = [
      route('GET|POST /a', SCOPED),
      route('* /b', SCOPED),
      route('GET /c', ', scopes: [], approve: false, anonymous: serve'),
    ];
    expect((await load(routes(...lines))).config.routes.map(({ approve }) => approve)).toEqual([true, true, false]);
  });
});
