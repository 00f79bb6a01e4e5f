import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load } from '../config/fixture.ts';

const FOLDER = new URL('../../docs/login/', import.meta.url);

/** Each YAML block of the pages that show a login configuration, and how many blocks each page has at least. */
const PAGES = ['bridge', 'database', 'header', 'oidc'].map((kind) => {
  const text = readFileSync(new URL(`${kind}.md`, FOLDER), 'utf8');
  return { kind, blocks: [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block) };
});

const AROUND = `version: 1
profile: B
origin: https://school.example
store: { kind: sqlite, path: data/gate.db }
upstreams: { school: { url: http://127.0.0.1:4000 } }
site: { upstream: school }
`;

describe.each(PAGES)('docs/login/$kind.md', ({ kind, blocks }) => {
  it('has a configuration example', () => {
    expect(blocks.length).toBeGreaterThan(0);
  });

  it.each(blocks)('has a configuration that loads: %s', async (block) => {
    const names = [...block.matchAll(/\{ env: (\w+) \}/g)].map(([, name = '']) => [
      name,
      name.endsWith('_DB') ? 'postgres://reader@db.test/school' : 'x'.repeat(48),
    ]);
    const inFolder = block.replaceAll('/run/secrets/', '');
    const files = Object.fromEntries([...inFolder.matchAll(/\{ file: (\S+) \}/g)].map(([, name = '']) => [name, 'x']));
    const { config } = await load(AROUND + inFolder, { environment: Object.fromEntries(names), files });
    expect(config.login.kind).toBe(kind);
  });
});

describe('the documentation pages of the sign-in methods', () => {
  it('are all tested', () => {
    const own = new Set(['session.md', ...PAGES.map(({ kind }) => `${kind}.md`)]);
    expect(readdirSync(FOLDER).filter((file) => own.has(file))).toHaveLength(own.size);
  });
});
