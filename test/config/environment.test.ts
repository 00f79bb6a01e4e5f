import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const LOCAL = SMALL.replace('https://school.example', 'http://localhost:8080');

describe('variable names', () => {
  it.each([
    ['COURSEGATE__TOKENS__REFRESHABSOLUTE'],
    ['COURSEGATE__TOKENS__REFRESH_ABSOLUTE'],
    ['COURSEGATE__tokens__refreshAbsolute'],
    ['coursegate__Tokens__Refresh_Absolute'],
  ])('%s sets tokens.refreshAbsolute', async (name) => {
    const { config } = await load(SMALL, { environment: { [name]: '2d' } });
    expect(config.tokens.refreshAbsolute).toBe(172_800);
  });

  it('match an upstream regardless of case, and create a new one in lower case', async () => {
    const { config } = await load(SMALL.replaceAll('school:', 'Old-School:').replaceAll(': school', ': Old-School'), {
      environment: {
        COURSEGATE__UPSTREAMS__OLD_SCHOOL__TIMEOUT: '1s',
        COURSEGATE__UPSTREAMS__EVENTS__URL: 'http://127.0.0.1:4002',
        COURSEGATE__UPSTREAMS__EVENTS__TIMEOUT: '2s',
      },
    });
    expect(Object.entries(config.upstreams).map(([name, { url, timeout }]) => [name, url, timeout])).toEqual([
      ['Old-School', 'http://127.0.0.1:4000', 1],
      ['events', 'http://127.0.0.1:4002', 2],
    ]);
  });

  it('with a deeper path take precedence', async () => {
    const environment = { COURSEGATE__LISTEN__PORT: '2', coursegate__listen: '{ port: 1, host: 0.0.0.0 }' };
    const { config } = await load(SMALL, { environment });
    expect(config.listen).toMatchObject({ port: 2, host: '0.0.0.0' });
  });
});

describe('variable values', () => {
  it.each([
    ['COURSEGATE__NAME', '1234', 'name', '1234'],
    ['COURSEGATE__NAME', 'Art: school #1', 'name', 'Art: school #1'],
    ['COURSEGATE__NAME', '"quoted"', 'name', 'quoted'],
    ['COURSEGATE__NAME', '', 'name', 'This school'],
    ['COURSEGATE__LOG', '{ level: warn }', 'log.level', 'warn'],
    ['COURSEGATE__LOGIN__COOKIES', '[a, b]', 'login.cookies', ['a', 'b']],
  ])('%s=%s', async (variable, value, path, expected) => {
    const { config } = await load(SMALL, { environment: { [variable]: value } });
    expect(config).toHaveProperty(path, expected);
  });
});

describe('problems name the variable', () => {
  it.each([
    ['COURSEGATE__LISTN__PORT', '1', 'there is no key "LISTN" (did you mean COURSEGATE__LISTEN__PORT?)'],
    [
      'COURSEGATE__TOKENS__REFRESH_ABSOLUT',
      '1d',
      'there is no key "REFRESH_ABSOLUT" in tokens (did you mean COURSEGATE__TOKENS__REFRESH_ABSOLUTE?)',
    ],
    ['COURSEGATE__LISTEN__PORT__X', '1', 'listen.port takes one value: nothing can be nested in it'],
    ['COURSEGATE__ROUTES__0__MATCH', 'x', "a list is set whole: COURSEGATE__ROUTES='[…]'"],
    ['COURSEGATE__LISTEN', '{', 'cannot be read as a YAML value'],
    ['COURSEGATE__LISTEN__PORT', 'many', 'listen.port: must be a number, not text'],
    ['COURSEGATE__LISTEN', '{ prot: 1 }', 'listen.prot: unknown key "prot" (did you mean "port"?)'],
    [
      'COURSEGATE__STORE__KIND',
      'sqlit',
      'store.kind: must be one of sqlite, redis, postgres, mysql, memory (did you mean "sqlite"?)',
    ],
    ['COURSEGATE__SITE__UPSTREAM', 'schol', 'site.upstream: there is no upstream "schol" (did you mean "school"?)'],
    ['COURSEGATE__UPSTREAMS__EVENTS__TIMEOUT', '1s', 'upstreams.events.url: is missing'],
    ['PORT', 'tcp://10.0.0.1:80', 'listen.port: must be a number, not text'],
    ['PORT', '70000', 'listen.port: must be at most 65535'],
    ['ADMIN_PORT', '8080', 'listen.admin.port: must differ from listen.port'],
    ['COURSEGATE_PROFILE', 'b', 'profile: must be one of A, B (did you mean "B"?)'],
  ])('%s=%s', async (variable, value, message) => {
    const lines = await mistakes(SMALL, { environment: { [variable]: value } });
    expect(lines).toEqual([`environment variable ${variable}  ${message}`]);
  });

  it('including when two variables set the same key', async () => {
    const environment = { COURSEGATE__TOKENS__REFRESHABSOLUTE: '1d', COURSEGATE__TOKENS__REFRESH_ABSOLUTE: '2d' };
    expect(await mistakes(SMALL, { environment })).toEqual([
      'environment variable COURSEGATE__TOKENS__REFRESH_ABSOLUTE  tokens.refreshAbsolute: sets the same key as COURSEGATE__TOKENS__REFRESHABSOLUTE',
    ]);
  });
});

describe('PORT', () => {
  it.each([
    ['http://localhost:8080', { PORT: '9000' }, 'http://localhost:9000', 9000],
    ['http://127.0.0.1:8080', { PORT: '9000' }, 'http://127.0.0.1:9000', 9000],
    ['http://localhost:8080', { PORT: '80' }, 'http://localhost', 80],
    ['http://localhost:8080', { PORT: '0' }, 'http://localhost:8080', 0],
    ['http://localhost:8080', { PORT: '' }, 'http://localhost:8080', 8080],
    ['https://school.example', { PORT: '9000' }, 'https://school.example', 9000],
    ['https://localhost.example', { PORT: '9000' }, 'https://localhost.example', 9000],
    ['http://localhost:8080', { PORT: '9000', COURSEGATE__ORIGIN: 'https://x.example' }, 'https://x.example', 9000],
    ['http://localhost:8080', { PORT: '9000', COURSEGATE__LISTEN__PORT: '9001' }, 'http://localhost:8080', 9001],
    ['http://localhost:8080', { COURSEGATE__LISTEN__PORT: '9001' }, 'http://localhost:8080', 9001],
  ])('%s with %j', async (written, environment, origin, port) => {
    const { config } = await load(SMALL.replace('https://school.example', written), { environment });
    expect({ origin: config.origin, port: config.listen.port }).toEqual({ origin, port });
  });
});

describe('other aliases', () => {
  it('ADMIN_PORT', async () => {
    const { config } = await load(LOCAL, { environment: { ADMIN_PORT: '9999' } });
    expect(config.listen.admin.port).toBe(9999);
    expect(config.origin).toBe('http://localhost:8080');
  });

  it('COURSEGATE_DATA sets the folder of a SQLite store, and is ignored for other stores', async () => {
    const environment = { COURSEGATE_DATA: 'some/data' };
    const { config } = await load(SMALL, { environment });
    expect(config.store).toEqual({ kind: 'sqlite', path: join(resolve('some/data'), 'coursegate.db') });
    const memory = await load(SMALL.replace(/store: .*/, 'store: { kind: memory }'), { environment });
    expect(memory.config.store).toEqual({ kind: 'memory' });
    const byVariable = await load(SMALL, { environment: { ...environment, COURSEGATE__STORE__KIND: 'memory' } });
    expect(byVariable.config.store).toEqual({ kind: 'memory' });
    const explicit = await load(SMALL, { environment: { ...environment, COURSEGATE__STORE__PATH: '/x.db' } });
    expect(explicit.config.store).toEqual({ kind: 'sqlite', path: '/x.db' });
  });
});

describe('COURSEGATE_HTTP_CLIENT', () => {
  const clients = async (environment: Record<string, string>) => {
    const { config } = await load(SMALL, { environment });
    return Object.values(config.upstreams).map(({ client }) => client);
  };

  it('makes undici the HTTP client for all upstreams', async () => {
    expect(await clients({})).toEqual(['http1']);
    expect(await clients({ COURSEGATE_HTTP_CLIENT: '' })).toEqual(['http1']);
    expect(await clients({ COURSEGATE_HTTP_CLIENT: 'undici' })).toEqual(['undici']);
  });

  it('has no other value', async () => {
    expect(await mistakes(SMALL, { environment: { COURSEGATE_HTTP_CLIENT: 'http1' } })).toEqual([
      'environment variable COURSEGATE_HTTP_CLIENT  can only be undici',
    ]);
  });
});
