import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load } from '../config/fixture.ts';

const PAGE = readFileSync(new URL('../../docs/identity.md', import.meta.url), 'utf8');

/** Each YAML block of the page with its heading. */
const BLOCKS = PAGE.split(/^## /m).flatMap((section) =>
  [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => ({
    heading: section.split('\n')[0] ?? '',
    text,
  })),
);

const AROUND = `version: 1
profile: B
origin: https://school.example
store: { kind: memory }
login:
  kind: session
  upstream: UPSTREAM
  whoami: { path: /api/me }
  loginUrl: https://school.example/login
  cookies: [school_session]
`;

const environment = { API_MINT_KEY: 'k'.repeat(32), SHOP_KEY: 'k'.repeat(32), MOODLE_TOKEN: 'k'.repeat(32) };

describe('docs/identity.md', () => {
  it.each(BLOCKS)('has a configuration that loads: $heading', async ({ text }) => {
    const [, upstream = ''] = /^ {2}(\w+):/m.exec(text) ?? [];
    const { config } = await load(AROUND.replace('UPSTREAM', upstream) + text, { environment });
    expect(Object.keys(config.upstreams)).toEqual([upstream]);
  });

  it('has an example of each of the five methods', async () => {
    expect(BLOCKS.map(({ text }) => /kind: (\w+)|identity: \[(\w+)\]/.exec(text)?.slice(1).find(Boolean))).toEqual([
      'assertion',
      'headers',
      'session',
      'session',
      'session',
      'token',
      'key',
      'key',
    ]);
  });

  it('links only to headings that it has', () => {
    const slugs = [...PAGE.matchAll(/^## (.*)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replace(/'/g, '').replaceAll(' ', '-'),
    );
    expect([...PAGE.matchAll(/\(#([^)]*)\)/g)].map(([, slug]) => slug)).toEqual(slugs);
  });
});
