import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCliPages } from '../../packaging/cli-pages.ts';
import { runToEnd } from '../support/operator.ts';
import { programPresent } from './support/programs.ts';
import { plain, runInTerminal } from './support/pseudo-terminal.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'coursegate-completion-'));
const here = join(folder, 'here');
const bin = join(folder, 'bin');
const PATH = `${bin}:${process.env.PATH}`;
beforeAll(async () => {
  await writeCliPages(folder);
  mkdirSync(join(here, 'gate folder'), { recursive: true });
  // The scripts ask the program, as it is installed.
  mkdirSync(bin);
  writeFileSync(join(bin, 'coursegate'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  writeFileSync(join(here, 'coursegate.yaml'), '');
  writeFileSync(join(here, 'key file.pem'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const MEMBERS = ['list', 'resume', 'revoke', 'show', 'suspend'];
const FRAMEWORKS = 'django express frappe generic laravel learnhouse moodle rails spring wordpress'.split(' ');
const SUSPEND = ['--admin', '--cert', '--config', '--help', '--json', '--key', '--no-color', '--reason', '--yes'];

/** What a line is completed with, and words that must not be offered. */
const CASES: readonly { line: string; offers: readonly string[]; never?: readonly string[] }[] = [
  { line: 'coursegate me', offers: ['members'] },
  { line: 'coursegate ', offers: ['check', 'demo', 'doctor', 'serve', 'completion'], never: ['coursegate.yaml'] },
  { line: 'coursegate members ', offers: MEMBERS, never: ['serve'] },
  { line: 'coursegate --no-color members ', offers: MEMBERS },
  { line: 'coursegate members suspend --', offers: SUSPEND, never: ['--now', '--strict'] },
  { line: 'coursegate members suspend m-1 --con', offers: ['--config'] },
  { line: 'coursegate check --format ', offers: ['text', 'json', 'github'], never: ['coursegate.yaml'] },
  { line: 'coursegate init --framework ', offers: FRAMEWORKS },
  { line: 'coursegate init --upstream check --plugin ', offers: ['nginx', 'caddy', 'envoy'], never: ['--format'] },
  { line: 'coursegate check course', offers: ['coursegate.yaml'] },
  { line: 'coursegate serve --config course', offers: ['coursegate.yaml'] },
  { line: 'coursegate check --format=j', offers: ['--format=json'] },
  { line: 'coursegate serve --config=course', offers: ['--config=coursegate.yaml'] },
  { line: 'coursegate keys import key', offers: ['key file.pem'] },
  { line: 'coursegate export --dir gate', offers: ['gate folder'] },
  { line: 'coursegate completion ', offers: ['bash', 'fish', 'zsh'] },
  { line: 'coursegate help mem', offers: ['members'] },
  { line: 'coursegate clients show ', offers: [], never: ['coursegate.yaml', 'list'] },
];

/** Words as an interactive shell lists or inserts them: the screen after Tab was pressed, without the line itself. */
type Shell = (line: string) => Promise<readonly string[]> | readonly string[];

const bash: Shell = (line) =>
  pressTab(
    'bash --norc --noprofile -i',
    [
      `bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'`,
      `bind 'set enable-bracketed-paste off'; bind 'set completion-display-width 0'`,
      `source ${join(folder, 'coursegate.bash')}`,
    ],
    line,
  );

const zsh: Shell = (line) =>
  pressTab(
    'zsh -f -i',
    [
      `fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste prompt_sp auto_menu`,
      `LISTMAX=0; setopt bash_auto_list list_rows_first; bindkey '^I' list-choices-or-complete 2>/dev/null`,
      `test-complete() { zle complete-word; zle list-choices }; zle -N test-complete; bindkey '^I' test-complete`,
    ],
    line,
  );

/** fish completes without a terminal. */
const fish: Shell = (line) => {
  const script = `source ${join(folder, 'coursegate.fish')}; complete -C ${JSON.stringify(line)}`;
  const printed = execFileSync('fish', ['--no-config', '-c', script], {
    encoding: 'utf8',
    cwd: here,
    env: { PATH, HOME: folder },
  });
  return printed.split('\n').map((one) => one.split('\t')[0]?.trim() ?? '');
};

async function pressTab(shell: string, setUp: readonly string[], line: string): Promise<readonly string[]> {
  const terminal = runInTerminal(`cd '${here}'; exec ${shell}`, {
    columns: 200,
    environment: { PATH, PS1: '$ ', HOME: folder, TERM: 'dumb' },
  });
  for (const one of setUp) terminal.type(`${one}\n`);
  terminal.type(`echo RE''ADY\n`);
  // Until the prompt is there, Tab and Ctrl-U would go to the terminal and not to the shell.
  const before = (await terminal.shows(/READY\r?\n[\s\S]*\$ /)).length;
  terminal.type(`${line}\t`);
  // Ctrl-U empties the line, so that only this command is run after the completion.
  terminal.type('\t\u0015');
  terminal.type(`echo DO''NE\n`);
  const screen = plain((await terminal.shows(/DONE\r?\n/)).slice(before));
  terminal.type('exit\n');
  await terminal.exited;
  return (
    screen
      .split('DONE')[0]
      ?.replaceAll('\\ ', ' ')
      .split(/\s{2,}|\n/) ?? []
  );
}

const found = (words: readonly string[], wanted: string) =>
  words.some(
    (word) =>
      word === wanted ||
      word.startsWith(`${wanted}/`) ||
      word.startsWith(`${wanted} `) ||
      word.split(' ').includes(wanted) ||
      word.endsWith(` ${wanted}`),
  );

describe.each([
  { name: 'bash', complete: bash },
  { name: 'zsh', complete: zsh },
  { name: 'fish', complete: fish },
])('$name', ({ name, complete }) => {
  describe.skipIf(!programPresent(name, name))('completes', () => {
    it.each(CASES)(
      '$line',
      async ({ line, offers, never = [] }) => {
        const words = await complete(line);
        const after = words.map((word) => word.replace(line.replace(/\S*$/, ''), ''));
        for (const wanted of offers) expect(found(after, wanted), `${wanted} in ${JSON.stringify(words)}`).toBe(true);
        for (const other of never) expect(found(after, other), `${other} in ${JSON.stringify(words)}`).toBe(false);
      },
      180_000,
    );
  });
});

it('the command prints the scripts that packages install', async () => {
  for (const [shell, file] of [
    ['bash', 'coursegate.bash'],
    ['zsh', '_coursegate'],
    ['fish', 'coursegate.fish'],
  ] as const) {
    const { code, stdout, stderr } = await runToEnd(['completion', shell]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(readFileSync(join(folder, file), 'utf8'));
  }
  expect((await runToEnd(['completion', 'tcsh'])).code).toBe(64);
});
