import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const FILES = { 'account.graphql': 'type Query', 'b.map.graphql': 'b', 'a.map.graphql': 'a', '.c.map.graphql': 'c' };
/** The smallest configuration with the profile that serves the Account API. */
const SERVED = SMALL.replace('profile: B', 'profile: A');
const block = (schema: string, mappings: string, base = SERVED) =>
  `${base}account:\n  schema: ${schema}\n  mappings: ${mappings}\n`;

describe('the account block', () => {
  it('loads its files, and the mappings by name', async () => {
    const { config, accountFiles, sources } = await load(block('account.graphql', '"*.map.graphql"'), { files: FILES });
    expect(accountFiles).toEqual({
      schema: [{ file: 'account.graphql', text: 'type Query' }],
      mappings: [
        { file: 'a.map.graphql', text: 'a' },
        { file: 'b.map.graphql', text: 'b' },
      ],
      recorded: [],
      documents: undefined,
    });
    expect(config.account).toEqual({
      enabled: true,
      path: '/account/graphql',
      schema: sources.resolve('account.graphql'),
      mappings: join(sources.resolve('.'), '*.map.graphql'),
      bodyLimit: 65_536,
      deadline: 10,
      config: {},
      introspection: true,
      limits: {
        tokens: 1000,
        depth: 12,
        fields: 400,
        aliases: 30,
        rootFields: 10,
        directives: 50,
        cost: 5000,
        pageSize: 100,
        upstreamCalls: 50,
      },
    });
  });

  it('can name one mapping file', async () => {
    const { accountFiles } = await load(block('account.graphql', 'b.map.graphql'), { files: FILES });
    expect(accountFiles?.mappings.map(({ text }) => text)).toEqual(['b']);
  });

  it('loads its trusted documents', async () => {
    const text = `${block('account.graphql', 'b.map.graphql')}  documents: { file: a.map.graphql, only: true }\n`;
    const { accountFiles, config } = await load(text, { files: FILES });
    expect(accountFiles?.documents).toEqual({ file: 'a.map.graphql', text: 'a' });
    expect(config.account?.documents).toEqual({ file: 'a.map.graphql', only: true });
    expect(await mistakes(text.replace('file: a.map.graphql', 'file: none.json'), { files: FILES })).toEqual([
      expect.stringMatching(/^gate\.yaml:17:22 +account\.documents\.file: no file|cannot read none\.json/),
    ]);
  });

  it('reports files that do not exist', async () => {
    expect(await mistakes(block('none.graphql', '"*.none"'), { files: FILES })).toEqual([
      'gate.yaml:15:11  account.schema: cannot read none.graphql: there is no such file',
      'gate.yaml:16:13  account.mappings: no file matches *.none',
    ]);
  });

  it('needs no files when it is disabled, and is then absent', async () => {
    const { config, accountFiles } = await load(`${block('none.graphql', 'none', SMALL)}  enabled: false\n`);
    expect('account' in config).toBe(false);
    expect(accountFiles).toBeUndefined();
  });

  it('must be complete if it is present', async () => {
    expect(await mistakes(`${SERVED}account: { enabled: true }\n`)).toEqual([
      'gate.yaml:14:1  account.schema: is missing',
      'gate.yaml:14:1  account.mappings: is missing',
    ]);
  });
});
