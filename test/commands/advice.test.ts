import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/commands/command.ts';
import { programName } from '../../src/operator/program-name.ts';
import { type Ran, runToEnd } from '../support/operator.ts';
import { freePort } from '../support/world.ts';
import { everyLeaf } from './support/definitions.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const MAIN = join(SRC, 'main.ts');
const CONFIG = 'config/coursegate.yaml';
const folder = mkdtempSync(join(tmpdir(), 'coursegate-advice-'));
const bad = join(folder, "the school's file.yaml");
/** A folder of programs with one that is called coursegate, as a package installs it. */
const bin = join(folder, 'bin');
beforeAll(() => {
  mkdirSync(bin);
  writeFileSync(bad, 'version: 1\nprofil: A\n');
  writeFileSync(join(bin, 'coursegate'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, 'coursegate'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** As typed where coursegate is on the PATH. */
const installed = () => ({ PATH: `${bin}:/usr/bin:/bin`, npm_command: '', COURSEGATE_DATA: folder, PORT: '0' });

describe('a Try: line', () => {
  /** Failures, and what the line that each of them prints does when a shell runs it. */
  const CASES: readonly { args: readonly (string | (() => string))[]; does: RegExp; code: number }[] = [
    { args: ['serv'], does: /^Usage: coursegate /, code: 0 },
    { args: ['members', 'suspend'], does: /^Usage: coursegate members suspend /, code: 0 },
    { args: ['serve', '--config', () => bad], does: /unknown key "profil"/, code: 78 },
    { args: ['check', () => join(folder, 'missing.yaml')], does: /Next steps:|The site did not answer/, code: 0 },
    { args: ['config', 'print', 'nonsense', '--config', CONFIG], does: /^version: 1$/m, code: 0 },
    { args: ['events', 'list', '--admin', 'nonsense'], does: /^Usage: coursegate events list /, code: 0 },
    { args: ['connect', 'ftp://x'], does: /^Usage: coursegate connect /, code: 0 },
  ];

  it.each(CASES)(
    'after $args runs as it is printed',
    async ({ args, does, code }) => {
      const words = args.map((word) => (typeof word === 'string' ? word : word()));
      const { stderr } = await runToEnd(words, installed());
      const line = /^Try: (.*)$/m.exec(stderr)?.[1] ?? '';
      expect(line).toMatch(/^coursegate /);
      const ran = await inShell(line);
      expect(`${ran.stdout}${ran.stderr}`).toMatch(does);
      expect(ran.code).toBe(code);
    },
    180_000,
  );

  it('after an address without a gate runs as it is printed', async () => {
    const { createServer } = await import('node:http');
    const site = createServer((_request, response) => response.writeHead(404).end());
    const port = await freePort();
    await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
    try {
      const { stderr } = await runToEnd(['doctor', `http://127.0.0.1:${port}`], installed());
      const line = /^Try: (.*)$/m.exec(stderr)?.[1] ?? '';
      expect(line).toBe(`coursegate init --upstream http://127.0.0.1:${port}`);
      expect(await inShell(line)).toMatchObject({ code: 0, stdout: expect.stringContaining('coursegate.yaml') });
    } finally {
      site.close();
    }
  });

  async function inShell(line: string): Promise<Ran> {
    const cwd = mkdtempSync(join(folder, 'here-'));
    mkdirSync(join(cwd, 'config'));
    writeFileSync(join(cwd, CONFIG), `version: 1\n`);
    const root = line.includes(CONFIG) ? fileURLToPath(new URL('../..', import.meta.url)) : cwd;
    return promisify(execFile)('sh', ['-c', line], { cwd: root, env: installed() }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: Ran) => ({ code, stdout, stderr }),
    );
  }
});

describe('the name of the program', () => {
  it.each([
    ['is what npm can start, under npm', { PATH: () => bin, npm_command: 'exec' }, undefined, 'npx coursegate'],
    ['is the bare name where it is on the PATH', { PATH: () => bin }, undefined, 'coursegate'],
    ['is what npx can start, elsewhere', { PATH: () => folder }, undefined, 'npx coursegate'],
    ['is that of the single binary as typed', { PATH: () => bin }, './coursegate-linux-x64', './coursegate-linux-x64'],
    [
      'is quoted if a shell would split it',
      { PATH: () => bin },
      '/opt/my tools/coursegate',
      "'/opt/my tools/coursegate'",
    ],
  ])('%s', (_what, environment, binary, name) => {
    const given = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, typeof value === 'string' ? value : value()]),
    );
    expect(programName({ environment: given, binary })).toBe(name);
  });
});

it('every command that the sources name exists, with its options', async () => {
  const commands = new Map((await everyLeaf()).map((command) => [wordsOf(command).slice(1).join(' '), command]));
  const groups = new Set([...commands.keys()].map((words) => words.split(' ')[0]));
  const wrong: string[] = [];
  let seen = 0;
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(SRC, file), 'utf8');
    for (const [, typed = ''] of text.matchAll(/(?:next: ['\x60]coursegate|\$\{programName\(\)\}) ([^'\x60\n]*)/g)) {
      const words = typed.split(' ');
      const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((one) => commands.has(one));
      if (name === undefined && (words[0]?.startsWith('$') || (groups.has(words[0]) && words[1]?.startsWith('$'))))
        continue;
      seen += 1;
      const options = commands.get(name ?? '')?.options.map(({ long }) => long) ?? [];
      const given = typed.match(/(?<= )--[a-z-]+/g) ?? [];
      if (name === undefined || given.some((one) => one !== '--help' && !options.includes(one)))
        wrong.push(`${file}: ${typed}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(10);
});
