import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/config/load.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language: string) =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');

describe('README', () => {
  it('is short: at most 10 KB', () => {
    expect(Buffer.byteLength(README)).toBeLessThanOrEqual(10_000);
  });

  it('shows configurations that load', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-readme-'));
    try {
      expect(blocks('yaml')).not.toHaveLength(0);
      for (const name of ['account.graphql', 'mapping.graphql']) writeFileSync(join(folder, name), 'type Query');
      for (const block of blocks('yaml')) {
        const file = join(folder, 'coursegate.yaml');
        writeFileSync(file, block);
        await expect(loadConfig({ file, environment: {} })).resolves.toMatchObject({ profile: 'A' });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('names npm scripts and commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const named = [...README.matchAll(/npm (?:run )?([a-z:]+)/g)].map((match) => match[1] ?? '');
    for (const script of named.filter((name) => !['ci', 'install', 'pack'].includes(name)))
      expect(scripts).toHaveProperty([script]);

    const help = execFileSync(process.execPath, [join(root, 'src/main.ts'), '--help'], { encoding: 'utf8' });
    const commands = new Set([...README.matchAll(/npx coursegate ([a-z]+)/g)].map((match) => match[1]));
    expect(commands.size).toBeGreaterThan(2);
    for (const command of commands) expect(help).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  });

  it('links to files that exist', () => {
    const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? '');
    expect(links).not.toHaveLength(0);
    for (const link of links) expect(existsSync(join(root, link)), link).toBe(true);
  });
});
