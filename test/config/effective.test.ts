import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfig, toYaml } from '../../src/config/effective.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configSchema } from '../../src/config/schema.ts';
import { load, SMALL } from './fixture.ts';

const CONFIG = fileURLToPath(new URL('../../config/', import.meta.url));
const FILES = [
  'coursegate.yaml',
  ...readdirSync(`${CONFIG}examples`)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `examples/${name}`),
];
const environment = {
  COURSEGATE_SECRET: 'k'.repeat(32),
  DATABASE_URL: 'postgres://localhost/coursegate',
  REDIS_URL: 'redis://localhost:6379',
  REDIS_PASSWORD: 'hunter2-hunter2',
  MOODLE_TOKEN: 'e'.repeat(32),
};

describe('the effective configuration', () => {
  it.each(FILES)('of %s is equivalent to the file', async (file) => {
    const loaded = await loadConfig({ file: CONFIG + file, environment });
    const { profile: _, ...was } = loaded.written.tree;
    const effective = effectiveConfig(loaded);
    const { profile, ...tree } = effective.tree;
    expect(profile).toBe(loaded.profile);
    expect(configSchema.parse(tree)).toEqual(configSchema.parse(was));
    for (const origins of [false, true]) expect(parse(toYaml(effective, { origins }))).toEqual(effective.tree);
  });

  it('includes every default, in the file’s format', async () => {
    const { tree } = effectiveConfig(await load(SMALL));
    expect(tree.tokens).toEqual({
      access: '10m',
      refresh: '30d',
      refreshAbsolute: '365d',
      replayWindow: '10s',
    });
    expect(tree.login).toMatchObject({ kind: 'session', returnParam: 'return_to', whoami: { format: 'json' } });
    expect(tree.upstreams).toMatchObject({ school: { timeout: '10s', breaker: { failures: 5 } } });
  });

  it('names the source of each setting', async () => {
    const loaded = await load(SMALL, { environment: { PORT: '9000', COURSEGATE__TOKENS__ACCESS: '5m' } });
    const { origin } = effectiveConfig(loaded);
    expect(origin(['store', 'path'])).toMatch(/gate\.yaml:4$/);
    expect(origin(['profile'])).toMatch(/gate\.yaml:2$/);
    expect(origin(['listen', 'port'])).toBe('environment variable PORT');
    expect(origin(['tokens', 'access'])).toBe('environment variable COURSEGATE__TOKENS__ACCESS');
    expect(origin(['tokens', 'replayWindow'])).toBe('default');
    expect(origin(['resourceIndicator'])).toMatch(/profiles\/b\.yaml:\d+$/);
    expect(origin(['scopes', 'openid', 'kind'])).toMatch(/scopes\.yaml:\d+$/);
  });

  it('names secrets, but does not contain them', async () => {
    const text = `${SMALL.replace('sqlite, path: data/gate.db', 'redis, url: { env: REDIS_URL }')}secret: { file: key }
pages: { support: "mailto:help@school.example" }
account: { schema: s.graphql, mappings: m.graphql, config: { apiKey: { env: API_KEY }, token: s3cr3t-in-the-file, place: "https://me:s3cr3t-pass@x.example" } }
`;
    const loaded = await load(text, {
      environment: { REDIS_URL: 'redis://:s3cr3t-redis@localhost', API_KEY: 's3cr3t-api' },
      files: { key: 's3cr3t-'.repeat(5), 's.graphql': 'type Query { a: Int }', 'm.graphql': 'type X' },
    });
    const effective = effectiveConfig(loaded);
    expect(effective.tree).toMatchObject({
      store: { url: { env: 'REDIS_URL' } },
      secret: { file: 'key' },
      account: { config: { apiKey: { env: 'API_KEY' }, token: '***', place: 'https://***@x.example' } },
      pages: { support: 'mailto:help@school.example' },
    });
    expect(toYaml(effective, { origins: true })).not.toContain('s3cr3t');
  });
});
