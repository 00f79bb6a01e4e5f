import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildAccountSchema } from '../../src/account/schema.ts';
import { programPresent } from '../docs/support/interpreters.ts';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';
import { contractFiles, readText } from './support/account.ts';

const README = readText('schema/README.md');

/** The blocks of the page, in order. */
const BLOCKS = [...README.matchAll(/^```([a-z ]+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({
  kind,
  text,
}));
const textsOf = (wanted: string) => BLOCKS.filter(({ kind }) => kind === wanted).map(({ text }) => text);

const [CONTRACT = ''] = textsOf('graphql contract');
const MAPPINGS = textsOf('graphql mapping').map((text, at) => ({ file: `map-${at + 1}.graphql`, text }));
/** The last mapping contains a mistake on purpose. */
const SOUND = MAPPINGS.slice(0, -1);

const build = (files: readonly { file: string; text: string }[]) =>
  buildAccountSchema(contractFiles(CONTRACT), files, {
    upstreams: ['school', 'progress', 'events'],
    config: { open: [], secret: [] },
    scopes: ['orders:read', 'account:write'],
  });

let folder: string;
let world: World;
let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-schema-readme-'));
  writeFileSync(join(folder, 'contract.graphql'), CONTRACT);
  for (const { file, text } of SOUND) writeFileSync(join(folder, file), text);
  // The school's dates are relative to the day it starts.
  world = await startWorld({
    profile: 'A',
    today: new Date('2026-11-21T12:00:00Z'),
    overrides: {
      account: { schema: join(folder, 'contract.graphql'), mappings: join(folder, 'map-*.graphql') },
      // The demo's tools use fields that the page's contract does not have.
      mcp: { tools: [], resources: [], prompts: [] },
    },
  });
  const scope = 'openid email account:read account:write orders:read members:read';
  token = (await connect(await registerApp(world.origin), { parameters: { scope } })).access_token;
});
afterAll(async () => {
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('schema/README.md has no block that is not tested here', () => {
  expect(BLOCKS.map(({ kind }) => kind)).toEqual([
    ...['sh', 'json', 'graphql contract', 'graphql mapping', 'text', 'graphql mapping', 'graphql mapping'],
    ...['graphql mapping', 'graphql query', 'json', 'graphql query', 'json', 'graphql mapping', 'text'],
  ]);
});

it('schema/README.md shows the mistakes of a mapping as they are reported at start', () => {
  const [unfinished = '', wrong = ''] = textsOf('text');
  expect(() => build(MAPPINGS.slice(0, 1))).toThrow(expect.objectContaining({ message: unfinished.trim() }));
  expect(() => build(SOUND)).not.toThrow();
  expect(() => build(MAPPINGS)).toThrow(expect.objectContaining({ message: wrong.trim() }));
});

it.skipIf(!programPresent('curl', 'curl'))(
  'schema/README.md shows commands that work with the demo, and their output',
  async () => {
    const [command = ''] = textsOf('sh');
    const [shown = ''] = textsOf('json');
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-c', command.replaceAll('http://localhost:8080', world.origin)],
      {
        timeout: 10_000,
        env: { PATH: process.env.PATH ?? '', TOKEN: token },
      },
    );
    expect(JSON.parse(stdout)).toMatchObject(JSON.parse(shown));
  },
);

it('schema/README.md shows queries and their results', async () => {
  const [, ...answers] = textsOf('json');
  for (const [at, query] of textsOf('graphql query').entries()) {
    const answer = await fetch(`${world.origin}/account/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
    });
    expect(await answer.json()).toEqual(JSON.parse(answers[at] ?? ''));
  }
});

it('schema/README.md links to files that exist', () => {
  const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? '');
  expect(links.length).toBeGreaterThan(1);
  for (const link of links) expect(existsSync(new URL(`../../schema/${link}`, import.meta.url)), link).toBe(true);
});
