import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/commands/command.ts';
import { runToEnd } from '../support/operator.ts';
import { everyLeaf } from './support/definitions.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-failures-'));
const squatter = createServer((_request, response) => response.writeHead(404).end('no gate'));
let taken = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  taken = String((squatter.address() as AddressInfo).port);
});
afterAll(() => {
  squatter.close();
  rmSync(folder, { recursive: true });
});

const CONFIG = 'config/coursegate.yaml';
const bad = join(folder, 'bad.yaml');
writeFileSync(bad, 'version: 1\nprofil: A\n');
const missing = join(folder, 'missing.yaml');
/** Where nothing can be started by mistake. */
const ALONE = { COURSEGATE_DATA: folder, PORT: '0', ADMIN_PORT: '1' };

describe('a command that fails', () => {
  it('because of an invalid option exits 64, and names the help, for every command', async () => {
    const commands = (await everyLeaf()).map((command) => wordsOf(command).slice(1));
    expect(commands.length).toBeGreaterThan(30);
    const fail = async (words: readonly string[]) => {
      const { code, stdout, stderr } = await runToEnd([...words, '--no-such-option']);
      expect([words.join(' '), code, stdout]).toEqual([words.join(' '), 64, '']);
      expect(stderr).toMatch(new RegExp(`\nTry: npx coursegate ${words.join(' ')} --help\n$`));
    };
    for (let at = 0; at < commands.length; at += 4) await Promise.all(commands.slice(at, at + 4).map(fail));
  }, 300_000);

  it.each([
    { args: [], code: 64, says: /Usage: coursegate/, next: 'coursegate --help' },
    { args: ['serv'], code: 64, says: /unknown command 'serv'\n\(Did you mean serve\?\)/, next: 'coursegate --help' },
    { args: ['account'], code: 64, says: /Usage: coursegate account/, next: 'coursegate account --help' },
    { args: ['account', 'pul'], code: 64, says: /Did you mean pull/, next: 'coursegate account --help' },
    { args: ['serve'], code: 64, says: /--config <file>/, next: 'coursegate serve --help' },
    { args: ['serve', '--config', bad], code: 78, says: /nothing was started/, next: `coursegate check ${bad}` },
    { args: ['check', missing], code: 78, says: /there is no such file/, next: 'coursegate init --upstream' },
    {
      args: ['clients', 'show', '-hVJ8Qk2mYbR3xT7wLzN4c'],
      code: 64,
      says: /unknown option '-hVJ.*\nAn id that begins with - goes last, after --/,
      next: 'coursegate clients show --help',
    },
    { args: ['health'], code: 64, says: /Specify the gate/, next: 'coursegate health --help' },
    { args: ['health', '--admin', 'nonsense'], code: 64, says: /not the address/, next: 'coursegate health --help' },
    { args: ['health', '--config', bad], code: 78, says: /profil/, next: `coursegate check ${bad}` },
    {
      args: ['health', '--config', CONFIG],
      code: 69,
      says: /No gate answers/,
      next: `coursegate serve --config ${CONFIG}`,
    },
    {
      args: ['health', '--admin', () => `http://127.0.0.1:${taken}`],
      code: 69,
      says: /^No gate answers at http:\S+, but something else: 404, no gate\.$/m,
      next: 'coursegate health --help',
    },
    { args: ['observed', '--config', CONFIG], code: 69, says: /No gate answers/, next: 'coursegate serve' },
    { args: ['doctor', 'ftp://x'], code: 64, says: /not a web address/, next: 'coursegate doctor --help' },
    {
      args: ['connect', 'http://127.0.0.1:1'],
      code: 69,
      says: /nothing is listening there/,
      next: 'coursegate connect --help',
    },
    { args: ['connect', 'ftp://x'], code: 64, says: /not a web address/, next: 'coursegate connect --help' },
    {
      args: ['doctor', '--gateway', 'http://127.0.0.1:1', '--echo', '/echo', '--school', 'one'],
      ...{ code: 64, says: /--config only together with --school/, next: 'coursegate doctor --help' },
    },
    { args: ['connect', 'http://school.example'], code: 64, says: /not https/, next: 'coursegate connect --help' },
    { args: ['secret', 'retire'], code: 64, says: /--config/, next: 'coursegate secret retire --help' },
    {
      args: ['mcp', 'import', '--config', CONFIG, '--openapi', missing],
      code: 64,
      says: /Cannot read/,
      next: 'coursegate mcp import --help',
    },
    { args: ['hash-password'], code: 1, says: /password/, next: 'coursegate hash-password --help' },
    {
      args: ['backup', '--config', CONFIG, '--to', bad],
      code: 1,
      says: /there already/,
      next: 'coursegate backup --help',
    },
    {
      args: ['snippets', '--config', CONFIG, '--for', 'iis'],
      code: 64,
      says: /nginx/,
      next: 'coursegate snippets --help',
    },
    {
      args: ['init', '--upstream', 'nonsense', '--yes'],
      code: 64,
      says: /--upstream must be/,
      next: 'coursegate init --help',
    },
  ] as const)('$args suggests the command to try next', async ({ args, code, says, next }) => {
    const words = args.map((word) => (typeof word === 'string' ? word : word()));
    const ran = await runToEnd(words, ALONE);
    expect([ran.code, ran.stdout]).toEqual([code, expect.not.stringContaining('Try:')]);
    expect(ran.stderr).toMatch(says);
    const lines = ran.stderr.trimEnd().split('\n');
    expect(lines.at(-1)?.startsWith(`Try: npx ${next}`), ran.stderr).toBe(true);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
  });

  it('because of mistakes that it has just listed does not suggest itself', async () => {
    const { code, stderr } = await runToEnd(['check', bad], ALONE);
    expect(code).toBe(78);
    expect(stderr).toMatch(/bad\.yaml:2:1 .*unknown key "profil"[\s\S]* nothing was started\n$/);
    expect(stderr).not.toContain('Try:');
  });

  it('because a port is in use suggests another port', async () => {
    const ran = await runToEnd(['serve', '--config', CONFIG], { ...ALONE, ADMIN_PORT: taken });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(
      new RegExp(`Port ${taken} is in use\\.[^\n]*\nTry: PORT=8090 npx coursegate serve --config ${CONFIG}\n$`),
    );
  });
});
