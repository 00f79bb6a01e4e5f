import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCliPages } from '../../packaging/cli-pages.ts';
import { wordsOf } from '../../src/commands/command.ts';
import { runToEnd } from '../support/operator.ts';
import { everyLeaf, helpOf } from './support/definitions.ts';
import { programPresent } from './support/programs.ts';

const CODES: Readonly<Record<string, RegExp>> = {
  health: /\n {2}0 {4}healthy\n {2}1 {4}not healthy\n {2}64 {3}wrong arguments\n {2}69 {3}no gate answers\n/,
  doctor: /\n {2}0 {4}no check failed\n {2}1 {4}a check failed\n {2}2 {4}nothing to examine/,
  connect: /\n {2}2 {4}the member declined[^\n]*\n {2}64 [\s\S]*\n {2}130 {2}interrupted with Ctrl-C\n/,
  'members suspend': /\n {2}2 {4}nothing was changed/,
};

describe('--help', () => {
  it('lists the commands in groups, and how to begin with what can be typed', async () => {
    const { code, stdout, stderr } = await runToEnd(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^[A-Z][a-z]+:$/gm)).toEqual([
      'Options:',
      'Start:',
      'Configure:',
      'Run:',
      'Inspect:',
      'Operate:',
      'Help:',
    ]);
    expect(stdout).toMatch(
      /\nTo try it:\n {2}npx coursegate demo\n {2}npx coursegate connect http:\/\/localhost:8080\n$/,
    );
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('of every command fits 80 columns, and ends with examples and exit codes', async () => {
    const commands = await everyLeaf();
    expect(commands.length).toBeGreaterThan(30);
    for (const command of commands) {
      const words = wordsOf(command).slice(1).join(' ');
      const help = helpOf(command);
      for (const line of help.split('\n')) expect(line.length, `${words}: ${line}`).toBeLessThanOrEqual(80);
      expect(help, words).toMatch(/\nExamples?:\n {2}\S*coursegate [\s\S]*\n\nExit codes:\n {2}0 {4}\S/);
      expect(help, words).toMatch(/\n {2}64 {3}wrong arguments\n/);
      if (help.includes('--config <file>')) expect(help, words).toMatch(/\n {2}78 {3}\S/);
      if (help.includes('--admin <url>')) expect(help, words).toMatch(/\n {2}69 {3}\S/);
      if (CODES[words] !== undefined) expect(help).toMatch(CODES[words]);
    }
  });
});

describe('coursegate(1)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-pages-'));
  const page = join(folder, 'coursegate.1');
  beforeAll(async () => {
    await writeCliPages(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.skipIf(!programPresent('mandoc', 'mandoc'))('is free of warnings, and shows what a manual page has', () => {
    expect(execFileSync('mandoc', ['-T', 'lint', '-W', 'style', page], { encoding: 'utf8' })).toBe('');
    const shown = execFileSync('mandoc', ['-T', 'utf8', '-O', 'width=78', page], { encoding: 'utf8' });
    // A backspace after a character prints the next one over it, in bold or underlined.
    const text = shown
      .split('\b')
      .map((part, at, all) => (at < all.length - 1 ? part.slice(0, -1) : part))
      .join('');
    expect(text.match(/^[A-Z][A-Z ]+$/gm)).toEqual([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'ENVIRONMENT',
      'FILES',
      'EXIT STATUS',
      'EXAMPLES',
    ]);
    expect(text).toMatch(/\n {5}64 {3}Wrong arguments\.\n/);
    expect(text).toMatch(/members suspend \[/);
  });

  it('names every command with its own options', async () => {
    const text = readFileSync(page, 'utf8');
    for (const command of await everyLeaf()) {
      const typed = wordsOf(command).slice(1);
      expect(text).toContain(`.It Xo\n${typed.map((word) => `.Cm ${word}`).join('\n')}\n`);
      for (const { long } of command.options) expect(text).toContain(`Fl \\-${long?.slice(2).replaceAll('-', '\\-')}`);
    }
  });
});
