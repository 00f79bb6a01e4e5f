import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSecrets, requiredSecret } from '../../src/config/read-secrets.ts';
import { LONG_ENOUGH, secret } from '../../src/config/secret.ts';
import { sourceFiles } from '../../src/config/source-files.ts';
import type { JsonObject } from '../../src/http/json-object.ts';
import { openLogin } from '../../src/login/open-login.ts';
import { load, mistakes, SMALL } from './fixture.ts';

const KEY = 'k'.repeat(32);

describe('secret', () => {
  it('is read from the environment', async () => {
    const { secret, config } = await load(`${SMALL}secret: { env: GATE }\n`, { environment: { GATE: KEY } });
    expect(secret).toBe(KEY);
    expect(JSON.stringify(config)).not.toContain(KEY);
  });

  it.each([[`${KEY}`], [`${KEY}\n`], [`${KEY}\r\n`]])(
    'is read from a file beside the configuration: %j',
    async (text) => {
      const { secret } = await load(`${SMALL}secret: { file: key }\n`, { files: { key: text } });
      expect(secret).toBe(KEY);
    },
  );

  it('loses exactly one trailing newline', async () => {
    const { secret } = await load(`${SMALL}secret: { file: key }\n`, { files: { key: ` ${KEY} \n\n` } });
    expect(secret).toBe(` ${KEY} \n`);
  });

  it('can be omitted', async () => {
    expect((await load(SMALL)).secret).toBeUndefined();
  });

  it.each([
    ['{ env: GATE }', 'environment variable GATE is not set'],
    ['{ env: EMPTY }', 'environment variable EMPTY is empty'],
    ['{ file: none }', 'file none cannot be read'],
    ['{ env: SHORT }', 'environment variable SHORT has 31 bytes but at least 32 are needed (openssl rand -base64 32)'],
    ['{ file: short }', 'file short has 5 bytes but at least 32 are needed (openssl rand -base64 32)'],
  ])('%s is refused at its position', async (reference, message) => {
    const lines = await mistakes(`${SMALL}secret: ${reference}\n`, {
      environment: { EMPTY: '', SHORT: 'k'.repeat(31) },
      files: { short: 'short' },
    });
    expect(lines).toEqual([`gate.yaml:14:9  secret: ${message}`]);
  });
});

describe('a secret that the code expects', () => {
  it('is named by its setting when it was not read, and never taken as empty', () => {
    const secrets = new Map([['login.secret', KEY]]);
    expect(requiredSecret(secrets, 'login.secret')).toBe(KEY);
    expect(() => requiredSecret(secrets, 'login.url')).toThrow('The secret of login.url was not read.');
  });

  it.each([
    ['bridge', { kind: 'bridge', url: 'https://school.example/bridge' }, 'login.secret'],
    ['webhook', { kind: 'webhook', upstream: 'school', path: '/check' }, 'login.secret'],
    ['database', { kind: 'database', query: 'select 1' }, 'login.url'],
  ])('ends the start of a %s login without it', async (_, login, setting) => {
    const parts = {
      origin: 'https://school.example',
      upstreams: {},
      claims: {},
      secrets: new Map(),
      share: { acquire: () => ({}) },
    };
    await expect(openLogin(login as never, parts as never, undefined)).rejects.toThrow(
      `The secret of ${setting} was not read.`,
    );
  });
});

describe('the URL of a Redis store', () => {
  const shared = (store: string) =>
    SMALL.replace(/store: .*/, `store: { kind: redis, ${store} }`).concat('secret: { env: GATE }\n');
  const environment = { GATE: KEY, REDIS_URL: 'rediss://:hunter2@redis.example:6380/1' };

  it.each([
    ['the environment', 'url: { env: REDIS_URL }'],
    ['a file', 'url: { file: url }'],
  ])('is read from %s, and kept out of printed output', async (_, store) => {
    const files = { url: `${environment.REDIS_URL}\n` };
    const { redis, config } = await load(shared(store), { environment, files });
    expect(redis?.url).toBe(environment.REDIS_URL);
    expect(config.store).toMatchObject({ kind: 'redis', keyPrefix: 'coursegate' });
    expect(JSON.stringify(config)).not.toContain('hunter2');
  });

  it.each([['redis://localhost'], ['redis://localhost:6379/2'], ['unix:///run/redis.sock']])(
    'can be %s',
    async (url) => {
      const loaded = await load(shared('url: { env: REDIS_URL }'), { environment: { ...environment, REDIS_URL: url } });
      expect(loaded.redis?.url).toBe(url);
    },
  );

  it.each([['http://localhost:6379'], ['localhost:6379'], ['redis://'], ['unix://run/redis.sock']])(
    '%s is refused at its position, without being printed',
    async (url) => {
      const lines = await mistakes(shared('url: { env: REDIS_URL }'), {
        environment: { ...environment, REDIS_URL: url },
      });
      expect(lines).toEqual([
        'gate.yaml:4:28  store.url: environment variable REDIS_URL must be a redis://, rediss:// or unix:/// URL',
      ]);
    },
  );

  it('cannot be written in the file', async () => {
    const [line] = await mistakes(shared('url: "redis://:hunter2@localhost"'), { environment });
    expect(line).toMatch(/^gate\.yaml:4:\d+ {2}store\.url: must be \{ env: NAME \}/);
    expect(line).not.toContain('hunter2');
  });

  it('requires a secret that the replicas share', async () => {
    const text = SMALL.replace(/store: .*/, 'store: { kind: redis, url: { env: REDIS_URL } }');
    expect(await mistakes(text, { environment })).toEqual([
      'gate.yaml:4:16  store.kind: a redis store needs `secret`, the same for every replica, such as { env: COURSEGATE_SECRET }',
    ]);
  });

  it.each([
    ['keyPrefix: gate', /store\.kind: a redis store needs `url`, or `sentinels`/],
    ['url: { env: REDIS_URL }, cluster: [a]', /store\.cluster: cannot be combined with url/],
    ['sentinels: [a]', /store\.sentinels: need `masterName`/],
    ['url: { env: REDIS_URL }, masterName: m', /store\.masterName: only applies with `sentinels`/],
    ['url: { env: REDIS_URL }, tls: { cert: c.pem }', /store\.tls: has only cert/],
    ['url: { env: REDIS_URL }, tls: { ca: nothing.pem }', /store\.tls\.ca: nothing\.pem cannot be read/],
    ['cluster: [a], password: { env: NOT_SET }', /store\.password: environment variable NOT_SET is not set/],
  ])('with %s is refused at its position', async (store, message) => {
    expect((await mistakes(shared(store), { environment })).join('\n')).toMatch(message);
  });

  it.each([
    ['redis-1', { host: 'redis-1', port: 26_379 }, { host: 'redis-1', port: 6379 }],
    ['redis_1.school.example:6380', { host: 'redis_1.school.example', port: 6380 }],
    ['10.0.0.7:65535', { host: '10.0.0.7', port: 65_535 }],
    ['"[2001:db8::1]:6380"', { host: '2001:db8::1', port: 6380 }],
    ['"[::ffff:10.0.0.7]"', { host: '::ffff:10.0.0.7', port: 26_379 }, { host: '::ffff:10.0.0.7', port: 6379 }],
  ])(
    'reads the node %s, with the usual port of a Sentinel or a node by default',
    async (node, sentinel, other = sentinel) => {
      const { config: one } = await load(shared(`sentinels: [${node}], masterName: m`), { environment });
      expect(one.store).toMatchObject({ sentinels: [sentinel] });
      const { config: two } = await load(shared(`cluster: [b, ${node}]`), { environment });
      expect(two.store).toMatchObject({ cluster: [{ host: 'b', port: 6379 }, other] });
    },
  );

  it.each([
    ...[
      '""',
      '"a:"',
      '"a:0"',
      '"a:65536"',
      '"a:06379"',
      '"a:x"',
      '"a:1:2"',
      '"a b"',
      '"a/b"',
      '"redis://a:1"',
      '26379',
    ],
    ...['"::1"', '"2001:db8::1:6379"', '"[::1"', '"[::1]6379"', '"[::g]:1"', '"[10.0.0.7]:1"', '"[:::]:1"', '[]'],
    `"${'a'.repeat(254)}"`,
  ])('refuses the node %s', async (node) => {
    const problem = 'must be a host and its port, such as redis.school.example:6379 or "[2001:db8::1]:6379"';
    for (const [store, key] of [
      [`sentinels: [b, ${node}], masterName: m`, 'sentinels'],
      [`cluster: [b, ${node}]`, 'cluster'],
    ] as const) {
      const [line, ...others] = await mistakes(shared(store), { environment });
      expect([line, others]).toEqual([expect.stringMatching(/^gate\.yaml:4:\d+ {2}/), []]);
      expect(line).toContain(`store.${key}[1]: ${problem}`);
    }
  });

  it('has nodes that are text, not mappings', async () => {
    const found = await mistakes(shared('cluster: [a, { host: b, port: 6380 }, { host: c }]'), { environment });
    const said = (key: string) =>
      expect.stringMatching(
        new RegExp(`^gate\\.yaml:4:\\d+  store\\.cluster${key}: must be a host and its port, such as `),
      );
    expect(found).toEqual([said('\\[1\\]'), said('\\[2\\]')]);
  });

  it('has a prefix without a hash tag', async () => {
    const [line] = await mistakes(shared("url: { env: REDIS_URL }, keyPrefix: 'a{b}'"), { environment });
    expect(line).toMatch(/store\.keyPrefix: must be letters, digits/);
  });
});

describe('the secret of a resource server', () => {
  const named = (reference: string) => `${SMALL}clients: { resourceServers: { api: { secret: ${reference} } } }\n`;

  it('is read by name, and not printed', async () => {
    const { resourceServers, config } = await load(named('{ env: API }'), { environment: { API: KEY } });
    expect([...resourceServers]).toEqual([['api', KEY]]);
    expect(JSON.stringify(config)).not.toContain(KEY);
  });

  it.each([
    ['{ env: API }', 'environment variable API is not set'],
    ['{ env: SHORT }', 'environment variable SHORT must have at least 32 characters (openssl rand -base64 32)'],
  ])('%s is refused at its position', async (reference, message) => {
    const [line, ...others] = await mistakes(named(reference), { environment: { SHORT: 'k'.repeat(31) } });
    expect(line).toMatch(/^gate\.yaml:14:\d+ {2}clients\.resourceServers\.api\.secret: /);
    expect(line).toContain(message);
    expect(others).toEqual([]);
  });
});

describe('readSecrets', () => {
  const schema = z.strictObject({
    one: secret(LONG_ENOUGH).optional(),
    many: z.array(secret()).default([]),
    named: z.record(z.string(), z.union([z.string(), secret()])).prefault({}),
    login: z
      .discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('a'), url: secret() }),
        z.strictObject({ kind: z.literal('b'), url: z.unknown() }).transform((given) => given),
      ])
      .optional(),
    file: z.unknown().optional(),
  });
  const read = (tree: JsonObject) => readSecrets(schema, tree, { A: 'value of a\n', EMPTY: '\n' }, sourceFiles('.'));

  it('finds exactly the secrets that the schema marks', async () => {
    const a = { env: 'A' };
    const tree = { many: [a, a], named: { x: a, y: 'open' }, login: { kind: 'a', url: a }, file: a };
    const { values, findings } = await read(tree);
    expect([...values.keys()]).toEqual(['many[0]', 'many[1]', 'named.x', 'login.url']);
    expect([...new Set(values.values()), findings]).toEqual(['value of a', []]);
    expect((await read({ login: { kind: 'b', url: a } })).values.size).toBe(0);
  });

  it('reports problems at the setting, and leaves invalid references to the schema', async () => {
    const { findings } = await read({ one: { env: 'A' }, many: [{ env: 'EMPTY' }, { env: 'NONE' }, 'plain'] });
    expect(findings.map(({ path, message }) => `${path.join(' ')}: ${message}`)).toEqual([
      'one: environment variable A must have at least 32 characters (openssl rand -base64 32)',
      'many 0: environment variable EMPTY is empty',
      'many 1: environment variable NONE is not set',
    ]);
  });
});
