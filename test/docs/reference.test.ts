import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandReference } from '../tooling/command-reference.ts';
import { ROOT } from './support/pages.ts';

describe('docs/reference/commands.md', () => {
  const page = readFileSync(join(ROOT, 'docs/reference/commands.md'), 'utf8');

  it('is up to date', async () => {
    expect(page, 'stale: run `npm run reference`').toBe(await commandReference());
  });

  it('lists every command with its options, defaults and examples', () => {
    expect(page).toContain('| [`hash-password`](#coursegate-hash-password) |');
    expect(page).toContain('`coursegate clients revoke [options] <client>`');
    expect(page).toMatch(/^\| `--format <format>` \| .*one of `text`, `json`, `github`; default `text`\) \|$/m);
    expect(page).toMatch(/^### `coursegate events retry`\n\n\S.*\n\n`coursegate events retry \[options\]`\n\n\| Arg/m);
    expect(page.match(/^```sh$/gm)?.length ?? 0).toBeGreaterThan(20);
  });
});
