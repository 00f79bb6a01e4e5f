import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { profileNames } from '../../src/config/profiles.ts';
import { folderWith, load, mistakes, SMALL } from './fixture.ts';

const ACCOUNT = 'account: { schema: account.graphql, mappings: account.graphql }\n';
const files = { 'account.graphql': 'type Query' };

describe('profiles', () => {
  it('set exactly these keys', async () => {
    const read = async (name: string): Promise<unknown> =>
      parse(await readFile(new URL(`../../config/profiles/${name}.yaml`, import.meta.url), 'utf8'));
    expect(await read('a')).toEqual({ resourceIndicator: 'required', anonymous: 'refuse', account: { enabled: true } });
    expect(await read('b')).toEqual({ resourceIndicator: 'optional', anonymous: 'serve', account: { enabled: false } });
  });

  it('result in these configurations, which differ in nothing else', async () => {
    const a = await load(SMALL + ACCOUNT, { files, environment: { COURSEGATE_PROFILE: 'A' } });
    const b = await load(SMALL + ACCOUNT, { files });
    expect([a.profile, b.profile]).toEqual(['A', 'B']);
    const { account: accountA, store: storeA, ...restA } = a.config;
    const { account: accountB, store: storeB, ...restB } = b.config;
    expect(restA).toMatchObject({ resourceIndicator: 'required', anonymous: 'refuse' });
    expect(restB).toEqual({ ...restA, resourceIndicator: 'optional', anonymous: 'serve' });
    expect([accountA?.enabled, 'account' in b.config, accountB]).toEqual([true, false, undefined]);
    expect([a.accountFiles?.schema[0]?.text, b.accountFiles]).toEqual(['type Query', undefined]);
    expect([storeA.kind, storeB.kind]).toEqual(['sqlite', 'sqlite']);
  });

  it('without the Account API need no account block', async () => {
    const { config, accountFiles } = await load(SMALL);
    expect(['account' in config, accountFiles]).toEqual([false, undefined]);
  });

  it('with the Account API are refused without an account block, with the lines to add', async () => {
    const served = SMALL.replace('profile: B', 'profile: A');
    expect(await mistakes(served)).toEqual([
      'gate.yaml:2:10  profile: A serves the Account API, and `account` is missing. Add these lines, with your own files (docs/data.md):',
      '    account:',
      '      schema: account.graphql',
      '      mappings: mapping.graphql',
      '  An origin without the Account API has `profile: B`, with `resourceIndicator: required` and `anonymous: refuse` if it is to be as strict',
    ]);
    const [byEnvironment] = await mistakes(SMALL, { environment: { COURSEGATE_PROFILE: 'A' } });
    expect(byEnvironment).toMatch(/^environment variable COURSEGATE_PROFILE {2}profile: A serves the Account API/);
    const added = 'account:\n  schema: account.graphql\n  mappings: account.graphql\n';
    expect((await load(served + added, { files })).config.account).toBeDefined();
  });

  it('with the Account API are refused if it is switched off', async () => {
    const off = `${SMALL.replace('profile: B', 'profile: A')}${ACCOUNT.replace('{', '{ enabled: false,')}`;
    expect(await mistakes(off, { files })).toEqual([
      expect.stringMatching(/^gate\.yaml:14:21 {2}account\.enabled: cannot be false: profile A serves the Account API/),
    ]);
    const environment = { COURSEGATE__ACCOUNT__ENABLED: 'false' };
    const served = SMALL.replace('profile: B', 'profile: A') + ACCOUNT;
    expect(await mistakes(served, { files, environment })).toHaveLength(1);
  });

  it('are selected by the environment before the file', async () => {
    const inFile = SMALL + ACCOUNT;
    const chosen = async (text: string, profile: string) =>
      (await load(text, { files, environment: { COURSEGATE_PROFILE: profile } })).profile;
    expect((await load(inFile, { files })).profile).toBe('B');
    expect(await chosen(inFile, 'A')).toBe('A');
    expect(await chosen(inFile, '')).toBe('B');
    expect(await chosen(SMALL.replace('profile: B\n', ''), 'B')).toBe('B');
  });

  it('are required, and must exist', async () => {
    expect(await mistakes(SMALL.replace('profile: B\n', ''))).toEqual([
      'gate.yaml:1:1  profile: is missing (one of A, B); COURSEGATE_PROFILE can set it too',
    ]);
    expect(await mistakes(SMALL.replace('profile: B', 'profile: 1'))).toEqual([
      'gate.yaml:2:10  profile: must be one of A, B',
    ]);
  });

  it('match the files', async () => {
    const folder = await folderWith({ 'b.yaml': '', 'a.yaml': '', 'c.yaml': '', 'README.md': '' });
    expect(profileNames(folder)).toEqual(['A', 'B', 'C']);
  });
});

describe('the demo’s configuration', () => {
  const file = new URL('../../config/coursegate.yaml', import.meta.url).pathname;

  it.each([
    ['A', true],
    ['B', false],
  ])('loads with profile %s', async (profile, hasAccount) => {
    const { config, accountFiles } = await loadConfig({ file, environment: { COURSEGATE_PROFILE: profile } });
    expect(config).toMatchObject({ origin: 'http://localhost:8080', listen: { port: 8080, admin: { port: 9090 } } });
    expect(config.account !== undefined).toBe(hasAccount);
    expect(accountFiles !== undefined).toBe(hasAccount);
  });

  it('uses profile A, and has a route for every scope with an area', async () => {
    const { config, profile } = await loadConfig({ file, environment: {} });
    expect(profile).toBe('A');
    const used = new Set(config.routes.flatMap(({ scopes }) => scopes));
    const identity = Object.keys(config.scopes).filter((name) => config.scopes[name]?.kind === 'identity');
    // The demo's routes never write to the member's own account.
    expect(Object.keys(config.scopes).filter((name) => !used.has(name))).toEqual([...identity, 'account:write']);
  });
});
