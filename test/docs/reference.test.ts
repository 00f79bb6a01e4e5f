import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ASKING } from '../../src/operator/setup/snippets/gateways.ts';
import { commandPages } from '../tooling/command-reference.ts';
import { withPresets } from '../tooling/preset-table.ts';
import { ROOT } from './support/pages.ts';

describe('docs/reference/commands', () => {
  const folder = join(ROOT, 'docs/reference/commands');
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');

  it('is up to date', async () => {
    const pages = await commandPages();
    expect(readdirSync(folder).sort(), 'stale: run `npm run reference`').toEqual([...pages.keys()].sort());
    for (const [file, text] of pages) expect(read(file), `${file} is stale: run \`npm run reference\``).toBe(text);
  });

  it('has a page for every command, with its options, defaults and examples', () => {
    expect(read('README.md')).toContain('| [`hash-password`](hash-password.md) |');
    expect(read('clients.md')).toContain('`coursegate clients revoke [options] <client>`');
    expect(read('check.md')).toMatch(
      /^\| `--format <format>` \| .*one of `text`, `json`, `github`; default `text`\) \|$/m,
    );
    expect(read('events.md')).toMatch(
      /^## `coursegate events retry`\n\n\S.*\n\n`coursegate events retry \[options\]`\n\n\| Arg/m,
    );
    expect(readdirSync(folder).filter((file) => read(file).includes('```sh')).length).toBeGreaterThan(20);
  });
});

describe('the table of gateways in docs/plugin-mode.md', () => {
  const page = readFileSync(join(ROOT, 'docs/plugin-mode.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \| (yes|no) \|/gm)];

  it('has a row for each one, which says whether it can ask over a Unix socket', () => {
    expect(rows.map(([, name, , socket]) => [name, socket])).toEqual(
      ASKING.map(({ name, unixSockets }) => [name, unixSockets ? 'yes' : 'no']),
    );
  });

  it('has their names as operators know them', () => {
    expect(rows.filter(([, , title], at) => title?.startsWith(ASKING[at]?.title ?? '') !== true)).toEqual([]);
  });
});

describe('the table of presets in integrations/README.md', () => {
  it('is up to date', () => {
    const page = readFileSync(join(ROOT, 'integrations/README.md'), 'utf8');
    expect(page, 'stale: run `npm run reference`').toBe(withPresets(page));
  });
});
