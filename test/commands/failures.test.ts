import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../../src/commands/admin-client.ts';
import { wordsOf } from '../../src/commands/command.ts';
import { CommandFailure, describeFailure } from '../../src/commands/failure.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { type ConnectEnd, ConnectError } from '../../src/operator/connect/connect-error.ts';
import { UsageError } from '../../src/operator/usage-error.ts';
import { StoreNotReady } from '../../src/storage/open-failure.ts';
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

describe('what an admin listener answers to a command', () => {
  let asked: IncomingHttpHeaders = {};
  let answer: readonly [status: number, type: string, text: string, headers?: OutgoingHttpHeaders];
  const server = createServer((request, response) => {
    asked = request.headers;
    const [status, type, text, headers] = answer;
    response.writeHead(status, { ...(type !== '' && { 'content-type': type }), ...headers }).end(text);
  });
  let admin = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());
  const command = async (given?: object, config?: string) => {
    const gate = await adminClient({ admin: `${admin}/`, ...(config && { config }) }, { environment: {} });
    return gate.command('POST', '/x', given).catch((thrown: CommandFailure) => ({
      message: thrown.message.replace(admin, 'ADMIN'),
      ...thrown.details,
    }));
  };
  const elsewhere = {
    reason: 'Is this the address of the admin listener (listen.admin), and not that of the site?',
    code: 69,
  };

  it('is returned if it is 200 with JSON, and unsigned without the secret', async () => {
    answer = [200, 'application/json', '{"a":1}'];
    expect(await command()).toEqual({ a: 1 });
    expect([asked['content-type'], asked['coursegate-signature']]).toEqual([undefined, undefined]);
    await command({ b: 2 });
    expect(asked['content-type']).toBe('application/json');
  });

  const PROBLEM = 'application/problem+json';
  const signed =
    'Commands are signed with admin.hmac of the file given by --config, or authenticated by --cert and --key.';
  it.each<[number, string, string, object]>([
    [401, PROBLEM, '{"title":"no"}', { message: 'The gate refused this command: no', reason: signed }],
    [403, PROBLEM, '{"title":"no"}', { message: 'The gate refused this command: no', reason: signed }],
    [404, PROBLEM, '{"title":"none"}', { message: 'none', code: 2 }],
    [409, PROBLEM, '{"title":"taken"}', { message: 'taken', code: 1 }],
    [400, '', ' first \u001b[31m\nsecond', { message: 'first ?[31m', code: 1 }],
    [400, '', 'x'.repeat(250), { message: 'x'.repeat(200), code: 1 }],
    [400, PROBLEM, '{"title":5}', { message: '{"title":5}', code: 1 }],
    ...[500, 503].map((status): [number, string, string, object] => [
      ...([status, PROBLEM, '{"title":"later"}'] as const),
      { message: 'The gate cannot do this right now: later', next: 'coursegate health --admin ADMIN', code: 69 },
    ]),
  ])('is a failure of its own: %i %s %s', async (status, type, text, failure) => {
    answer = [status, type, text];
    expect(JSON.parse(JSON.stringify(await command()).replaceAll(admin, 'ADMIN'))).toEqual(failure);
  });

  it.each<[string, number, string, string, OutgoingHttpHeaders?]>([
    ['200, text', 200, 'text/plain', 'text'],
    ['200 without content', 200, '', ' '],
    ['200 with image/png', 200, 'image/png', 'x'],
    ['300 without content', 300, '', ''],
    ['302, a redirect to /login?', 302, PROBLEM, '{"title":"no"}', { location: '/login\u0085' }],
    ['399 without content', 399, PROBLEM, ''],
    ['401, a page “Sign in?”', 401, 'text/html; charset=utf-8', '<TITLE lang=en>\n Sign in\u0007 </title>'],
    ['500 with application/xhtml+xml', 500, 'application/xhtml+xml', '<p>'],
    ['503 with text/html', 503, 'text/html', `${' '.repeat(20_000)}<title>late</title>`],
  ])('is no gate’s: %s', async (described, ...given) => {
    answer = given;
    const message = `No gate answers at ADMIN, but something else: ${described}.`;
    expect(await command()).toEqual({ message, ...elsewhere });
  });
});

describe('the lines about a failure', () => {
  const typed = { command: 'coursegate x y', config: 'my gate.yaml', argument: 'https://school.test' };
  const told = (thrown: unknown, more = {}) => {
    const { text, code } = describeFailure(thrown, { ...typed, ...more }) ?? { text: '', code: -1 };
    return [code, ...text.replaceAll('npx coursegate', 'coursegate').split('\n')];
  };
  const cause = new Error('deeper');
  const port = (code: string) => Object.assign(new Error('x'), { code, port: 80 });
  const mistake = (line: number, file = 'my gate.yaml') =>
    new ConfigError([{ file, line, column: 1, path: 'a', message: 'm' }]);
  const end = (of: ConnectEnd) => new ConnectError('What.', 'Advice.', { end: of });
  const help = 'Try: coursegate x y --help';

  it.each<[string, unknown, readonly (string | number)[], object?]>([
    [
      'a command',
      new CommandFailure('What.', { reason: 'Why.', next: 'coursegate z', code: 69 }),
      [69, 'What.', 'Why.', 'Try: coursegate z'],
    ],
    ['a command, by default', new CommandFailure('What.', { cause }), [1, 'What.', 'Cause: deeper', help]],
    ['an error', new Error('What.', { cause }), [1, 'What.', 'Cause: deeper', help]],
    ['an error that names its cause', new Error('What: deeper', { cause }), [1, 'What: deeper', help]],
    ['no error', 'text', [1, 'text', help]],
    ['the usage', new UsageError('What.'), [64, 'What.', help]],
    ['the store', new StoreNotReady('What.'), [69, 'What.', help]],
    [
      'a mistake',
      mistake(3),
      [78, 'my gate.yaml:3:1  a: m', '1 problem; nothing was started', "Try: coursegate check 'my gate.yaml'"],
    ],
    [
      'a mistake that `check` lists',
      mistake(3),
      [78, expect.anything(), expect.anything()] as never,
      { command: 'coursegate check' },
    ],
    [
      'no file',
      mistake(0),
      [78, expect.anything(), expect.anything(), 'Try: coursegate init --upstream http://127.0.0.1:8000'] as never,
    ],
    [
      'no other file',
      mistake(0, 'b'),
      [78, expect.anything(), expect.anything(), "Try: coursegate check 'my gate.yaml'"] as never,
    ],
    [
      'a port',
      port('EADDRINUSE'),
      [
        1,
        expect.stringMatching(/^Port 80 is in use\. /),
        "Try: PORT=8090 coursegate x y --config 'my gate.yaml'",
      ] as never,
    ],
    [
      'a low port',
      port('EACCES'),
      [1, 'This user may not open port 80. Choose one above 1023.', 'Try: PORT=8080 coursegate x y'],
      { config: undefined },
    ],
    ['another failure of a port', port('EINVAL'), [1, 'x', help]],
    ['a connection', end('failed'), [1, 'What.', 'Advice.', 'Try: coursegate doctor https://school.test']],
    ['a declined connection', end('declined'), [2, 'What.', 'Advice.', 'Try: coursegate connect https://school.test']],
    ['an unreachable site', end('unreachable'), [69, 'What.', 'Advice.', 'Try: coursegate connect --help']],
    ['an unusable address', end('misused'), [64, 'What.', 'Advice.', 'Try: coursegate connect --help']],
    ['Ctrl-C', end('interrupted'), [130, 'What.', 'Advice.']],
    ['a connection to nowhere', end('failed'), [1, 'What.', 'Advice.'], { argument: undefined }],
  ])('of %s', (_what, thrown, lines, more) => {
    expect(told(thrown, more)).toEqual(lines);
  });
});
