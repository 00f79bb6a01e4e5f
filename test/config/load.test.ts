import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import { failure, folderWith, load, mistakes, SMALL } from './fixture.ts';

const BAD = `version: 2
profile: C
origin: https://school.example/
nmae: Harbour
listen:
  port: "8080"
  admin: { prot: 9 }
store: { kind: sqlit, path: x }
secret: hunter2-hunter2
login:
  kind: session
  upstream: schol
  whoami:
    subject: /id
  loginUrl: /login
  cookies: school_session
upstreams:
  school: { url: http://ann:pass@h, timeout: 10, identity: [heders] }
  1x:
routes:
  - { match: "GET /x/**", upstream: school, scopes: [courses:raed] }
  - { match: "GET /a/**/b" }
log: { level: info, level: loud }
`;

it('the file is found from the working directory, and the files it names relative to its folder', async () => {
  const folder = await folderWith({ 'gate.yaml': `${SMALL}secret: { file: key }\n`, key: 'k'.repeat(32) });
  const { file, secret } = await loadConfig({ file: relative('.', join(folder, 'gate.yaml')), environment: {} });
  expect([file, secret]).toEqual([join(folder, 'gate.yaml'), 'k'.repeat(32)]);
});

describe('a file with several problems', () => {
  it('has all of them reported at once, each with its position', async () => {
    expect(await failure(BAD)).toBe(`gate.yaml:1:10  version: must be 1
     1 | version: 2
       |          ^
gate.yaml:2:10  profile: must be one of A, B
     2 | profile: C
       |          ^
gate.yaml:3:9  origin: must not end with a slash: https://school.example
     3 | origin: https://school.example/
       |         ^
gate.yaml:4:1  nmae: unknown key "nmae" (did you mean "name"?)
     4 | nmae: Harbour
       | ^
gate.yaml:6:9  listen.port: must be a number, not text
     6 |   port: "8080"
       |         ^
gate.yaml:7:12  listen.admin.prot: unknown key "prot" (did you mean "port"?)
     7 |   admin: { prot: 9 }
       |            ^
gate.yaml:8:16  store.kind: must be one of sqlite, redis, postgres, mysql, memory (did you mean "sqlite"?)
     8 | store: { kind: sqlit, path: x }
       |                ^
gate.yaml:9:9  secret: must be { env: NAME } or { file: PATH }: secrets are never written in this file
     9 | secret: ***
       |         ^
gate.yaml:12:13  login.upstream: there is no upstream "schol" (did you mean "school"?)
    12 |   upstream: schol
       |             ^
gate.yaml:13:3  login.whoami.path: is missing
    13 |   whoami:
       |   ^
gate.yaml:15:13  login.loginUrl: a path needs \`site\`, which serves the login page at \`origin\`; otherwise give the full URL of the login page
    15 |   loginUrl: /login
       |             ^
gate.yaml:16:12  login.cookies: must be a list, not text
    16 |   cookies: school_session
       |            ^
gate.yaml:18:18  upstreams.school.url: must not contain a user name or password
    18 |   school: { url: http://***@h, timeout: 10, identity: [heders] }
       |                  ^
gate.yaml:18:46  upstreams.school.timeout: must be a duration such as 500ms, 30s, 10m, 8h or 30d
    18 |   school: { url: http://***@h, timeout: 10, identity: [heders] }
       |                                         ^
gate.yaml:18:61  upstreams.school.identity[0]: must be one of headers, assertion (did you mean "headers"?)
    18 |   school: { url: http://***@h, timeout: 10, identity: [heders] }
       |                                                        ^
gate.yaml:19:3  upstreams.1x: must be a name of letters, digits, - and _
    19 |   1x:
       |   ^
gate.yaml:21:54  routes[0].scopes[0]: there is no scope "courses:raed" in the catalogue (did you mean "courses:read"?)
    21 |   - { match: "GET /x/**", upstream: school, scopes: [courses:raed] }
       |                                                      ^
gate.yaml:22:5  routes[1].upstream: is missing
    22 |   - { match: "GET /a/**/b" }
       |     ^
gate.yaml:22:14  routes[1].match: \`**\` must be the last path segment
    22 |   - { match: "GET /a/**/b" }
       |              ^
gate.yaml:23:21  log.level: is a duplicate key (first on line 23)
    23 | log: { level: info, level: loud }
       |                     ^
gate.yaml:23:28  log.level: must be one of debug, info, warn, error, silent
    23 | log: { level: info, level: loud }
       |                            ^
21 problems; nothing was started`);
  });

  it('has them reported as data, too', async () => {
    const file = join(await folderWith({ 'gate.yaml': BAD }), 'gate.yaml');
    const error = await loadConfig({ file, environment: {} }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    const { problems } = error as ConfigError;
    expect(problems).toHaveLength(21);
    expect(problems[4]).toMatchObject({
      file,
      line: 6,
      column: 9,
      path: 'listen.port',
      message: 'must be a number, not text',
    });
  });
});

describe('a file that is not a configuration', () => {
  it.each([
    ['', ['gate.yaml:1:1  is empty']],
    ['# nothing yet\n', ['gate.yaml:1:1  is empty']],
    ['- a\n- b\n', ['gate.yaml:1:1  must be a mapping of keys to values']],
    ['a: &a [1]\nb: *c\n', ['gate.yaml:2:4  b: there is no anchor with this name above']],
    [`${SMALL}? [x]\n: y\n`, ['gate.yaml:14:3  a key must be plain text']],
    [`${SMALL}secret: !env GATE_SECRET\n`, ['gate.yaml:14:9  Unresolved tag']],
  ])('is refused: %j', async (text, lines) => {
    expect(await mistakes(text)).toEqual(lines);
  });

  it('is reported if it is missing', async () => {
    const file = 'no-such-folder/gate.yaml';
    await expect(loadConfig({ file, environment: {} })).rejects.toThrow(
      new ConfigError([{ file, line: 0, column: 0, path: '', message: 'cannot be read: there is no such file' }]),
    );
    await expect(loadConfig({ file, environment: {} })).rejects.toThrow(
      /^no-such-folder\/gate.yaml {2}cannot be read: there is no such file\n1 problem; nothing was started$/,
    );
  });

  it('is reported if it is a folder', async () => {
    const folder = await folderWith({});
    await expect(loadConfig({ file: folder, environment: {} })).rejects.toThrow('it is a folder, not a file');
  });
});

describe('after a syntax error', () => {
  it('checks the sections above it, and does not guess about those below', async () => {
    const text = 'version: 3\nstore: { kind: x }\nroutes: [\n  a\nsite: { upstream: school }\n';
    expect(await mistakes(text)).toEqual([
      'gate.yaml:1:10  version: must be 1',
      'gate.yaml:2:16  store.kind: must be one of sqlite, redis, postgres, mysql, memory',
      'gate.yaml:5:1  Flow sequence in block collection must be sufficiently indented and end with a ]',
    ]);
  });
});

describe('secrets in an invalid file', () => {
  it.each([
    ['secret: hunter2-is-mine\n'],
    ['secret: { value: hunter2-is-mine }\n'],
    ['secret: |\n  hunter2-is-mine\n'],
    ['clientSecret: "hunter2-is-mine"\n'],
    ['apiKey: hunter2-is-mine\n'],
    ['site2: { password: hunter2-is-mine, x: 1 }\n'],
    ['secret: "hunter2-is-mine\n'],
    ['password: "hunter2-is-mine" extra\n'],
    ['secret: [hunter2-is-mine, {{ x }}\n'],
    ['secret: |hunter2-is-mine\n'],
    ['secret: !hunter2-is-mine\n'],
    ['secret: *hunter2-is-mine\n'],
    ['x: { secret: &hunter2-is-mine }\n'],
    ['x: http://h/?access_token=hunter2-is-mine\n'],
    ['x: http://ann:hunter2-is-mine@h/\n'],
  ])('are not printed: %j', async (line) => {
    expect(await failure(SMALL + line)).not.toContain('hunter2');
  });

  it('are not printed if they come from a variable', async () => {
    const environment = { COURSEGATE__SECRET: 'hunter2-is-mine', COURSEGATE__LISTEN: '[hunter2-is-mine' };
    const text = await failure(SMALL, { environment });
    expect(text).toContain('COURSEGATE__SECRET');
    expect(text).not.toContain('hunter2');
  });
});

describe('layers', () => {
  it('override each other: catalogue, profile, file, environment, overrides', async () => {
    const text = `${SMALL}scopes:\n  courses:read: { title: See all courses }\n  quiz:read: { title: See quizzes, kind: read }\nlisten: { port: 1, host: "::1" }\nanonymous: serve\n`;
    const { config } = await load(text, {
      environment: { COURSEGATE__LISTEN__PORT: '2', COURSEGATE__LISTEN__ADMIN__PORT: '3' },
      overrides: { listen: { admin: { port: 4 }, host: undefined }, name: 'From code' },
    });
    expect(config.scopes['courses:read']).toEqual({ title: 'See all courses', kind: 'read' });
    expect(config.scopes['quiz:read']).toEqual({ title: 'See quizzes', kind: 'read' });
    expect(config.anonymous).toBe('serve');
    expect(config.listen).toMatchObject({ host: '::1', port: 2, admin: { host: '127.0.0.1', port: 4 } });
    expect(config.name).toBe('From code');
  });

  it('replace lists and mappings of another kind as a whole', async () => {
    const { config } = await load(SMALL, { overrides: { store: { kind: 'memory' }, login: { cookies: ['other'] } } });
    expect(config.store).toEqual({ kind: 'memory' });
    expect(config.login).toMatchObject({ cookies: ['other'] });
  });

  it('are named if an override has a problem', async () => {
    const overrides = { listen: { prot: 1 } };
    expect(await mistakes(SMALL, { overrides })).toEqual([
      'overrides  listen.prot: unknown key "prot" (did you mean "port"?)',
    ]);
  });

  it('are named for a problem inside a list', async () => {
    const text = `${SMALL}routes:\n  - { match: "GET /x", upstream: school }\n`;
    const environment = { COURSEGATE__ROUTES: '[{ match: "GET /y" }]' };
    expect(await mistakes(text, { environment })).toEqual([
      'environment variable COURSEGATE__ROUTES  routes[0].upstream: is missing',
    ]);
  });

  it('contain settings only', async () => {
    const { config } = await load(`$schema: ./x.json\n${SMALL}`);
    expect(Object.keys(config).sort()).toEqual(
      'admin anonymous claims clients enforcement furtherSecrets keys limits listen log login name origin pages reload resourceIndicator resources routes scopes site store timeZone tokens upstreams version'.split(
        ' ',
      ),
    );
    expect(await mistakes(`${SMALL}__proto__: { x: 1 }\n`)).toEqual([
      'gate.yaml:14:1  __proto__: unknown key "__proto__"',
    ]);
  });
});

describe('paths', () => {
  it('are resolved against the folder of the file', async () => {
    const { config, file, sources } = await load(SMALL);
    const folder = join(file, '..');
    expect(config.store).toEqual({ kind: 'sqlite', path: join(folder, 'data/gate.db') });
    expect(sources.resolve('../x')).toBe(join(folder, '../x'));
    expect(sources.resolve('/etc/x')).toBe('/etc/x');
  });
});
