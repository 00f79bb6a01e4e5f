import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { connect } from '../support/connection.ts';
import { reachConsent } from '../support/member.ts';
import { operate, runToEnd } from '../support/operator.ts';
import { startWorld, type World } from '../support/world.ts';
import { programPresent } from './support/programs.ts';
import { plain, runInTerminal } from './support/pseudo-terminal.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));
const ESCAPE = '\u001b';
/** Carriage return, and the sequence that empties the line. */
const ERASED = `\r${ESCAPE}[2K`;

it.skipIf(!programPresent('bash', 'bash')).each([
  ['the help', '--help', ''],
  ['what a command prints', `config print --config ${CONFIG}`, ''],
  ['a message', 'serve', '2>&1'],
])('%s ends quietly when its reader has gone, as `head` does', (_what, words, all) => {
  // The pipe has no reader: `true` has ended before the command starts.
  const script = `exec 3> >(true); wait $!; ${process.execPath} ${MAIN} ${words} >&3 ${all}`;
  const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([141, '']);
});

describe.skipIf(!programPresent('script', 'bsdutils'))('in a terminal', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      environment: { COMMAND_SECRET },
      overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } },
    });
  });
  afterAll(() => world.close());

  const run = (words: string, options: { columns?: number; environment?: Record<string, string> } = {}) =>
    runInTerminal(`exec ${process.execPath} ${MAIN} ${words}`, {
      ...options,
      environment: {
        COURSEGATE_DATA: world.data,
        COMMAND_SECRET,
        COURSEGATE__ADMIN__HMAC__SECRET__ENV: 'COMMAND_SECRET',
        ...options.environment,
      },
    });
  const operating = () => `--config ${CONFIG} --admin ${world.admin}`;

  it('doctor shows its progress and colours, within the width of the window', async () => {
    const doctor = run(`doctor ${world.origin}/mcp`, { columns: 60 });
    expect(await doctor.exited).toBe(0);
    const output = doctor.output();
    expect(output).toMatch(/Checking \[#*-*\] \d+% \d+\/\d+/);
    expect(output).toContain(`${ESCAPE}[32m✓${ESCAPE}[0m`);
    // The progress is gone before the report begins.
    const bars = output.lastIndexOf('Checking [');
    expect(output.slice(bars)).toContain(ERASED);
    const lines = output.split(/\r?\n/).map((line) => plain(line.split(ERASED).at(-1) ?? ''));
    // The first line and the summary begin with the address, and stay whole for programs that look for them.
    for (const line of lines.filter((one) => !one.includes(world.origin)))
      expect(line.length, line).toBeLessThanOrEqual(60);
    for (const [bar] of output.matchAll(/Checking \[[^\r]*/g)) expect(bar.length).toBeLessThanOrEqual(60);
  });

  it.each([
    ['NO_COLOR', { NO_COLOR: '1' }, ''],
    ['NO_COLOR, which counts more than FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, ''],
    ['--no-color', {}, '--no-color'],
  ])(
    '%s turns colours off, and keeps the progress',
    async (_name, environment, flag) => {
      const doctor = run(`doctor ${world.origin} --only reach ${flag}`, { environment });
      expect(await doctor.exited).toBe(0);
      expect(doctor.output()).toContain('✓');
      expect(doctor.output().replaceAll(ERASED, '')).not.toContain(ESCAPE);
    },
    180_000,
  );

  it('TERM=dumb turns both off', async () => {
    const doctor = run(`doctor ${world.origin}`, { environment: { TERM: 'dumb' } });
    expect(await doctor.exited).toBe(0);
    expect(doctor.output()).not.toContain(ESCAPE);
  });

  it('a pipe gets plain text, unless FORCE_COLOR asks for colours', async () => {
    const piped = await runToEnd(['doctor', world.origin, '--only', 'reach']);
    expect(piped.stdout + piped.stderr).not.toContain(ESCAPE);
    const forced = await runToEnd(['doctor', world.origin, '--only', 'reach'], { FORCE_COLOR: '1' });
    expect(forced.stdout).toContain(`${ESCAPE}[32m✓`);
  });

  it('backup says in colour what it has done, and a failure is red', async () => {
    const to = join(world.data, 'copy.db');
    const backup = run(`backup --config ${CONFIG} --to ${to}`);
    expect(await backup.exited).toBe(0);
    expect(backup.output()).toContain(`${ESCAPE}[32mCopied ${join(world.data, 'coursegate.db')} to ${to}.${ESCAPE}[0m`);
    const again = run(`backup --config ${CONFIG} --to ${to}`);
    expect(await again.exited).toBe(1);
    const [failure, next] = again.output().split('\r\n');
    expect(failure).toBe(
      `${ESCAPE}[31m${to} is there already, and a backup is never written over. Name another file.${ESCAPE}[0m`,
    );
    expect(next).toBe('Try: npx coursegate backup --help');
  });

  it('--help is wrapped to the window, with bold titles', async () => {
    const help = run('doctor --help', { columns: 50 });
    expect(await help.exited).toBe(0);
    expect(help.output()).toContain(`${ESCAPE}[1mOptions:${ESCAPE}[22m`);
    const options = /Options:([\s\S]*)Global Options/.exec(plain(help.output()))?.[1] ?? '';
    for (const line of options.split('\n')) expect(line.length, line).toBeLessThanOrEqual(50);
  });

  describe('connect', () => {
    const waiting = /Sign in and approve here:\s+(http\S+)[\s\S]*\| Waiting for the member \(\d+ s\)/;

    it('after Cancel says so, and exits 2', async () => {
      const connect = run(`connect ${world.origin} --no-browser`);
      const [, url = ''] = waiting.exec(await connect.shows(waiting)) ?? [];
      const { browser, page } = await reachConsent(url);
      await browser.submit(page, { decision: 'deny' });
      expect(await connect.exited).toBe(2);
      const output = plain(connect.output());
      expect(output).toContain('– Waiting for the member\n');
      expect(output).toMatch(/\nCancelled: the server answered access_denied[^\n]*\. Nothing was connected\.\n/);
      expect(output).toMatch(/\nTry: npx coursegate connect http:\S+\n$/);
      expect(connect.output()).toContain(`${ESCAPE}[32m✓${ESCAPE}[0m Registering`);
    });

    it('after Ctrl-C says so in a line of its own, and exits 130', async () => {
      const connect = run(`connect ${world.origin} --no-browser`);
      await connect.shows(waiting);
      connect.type('\u0003');
      expect(await connect.exited).toBe(130);
      expect(plain(connect.output())).toMatch(
        /\n– Waiting for the member\n✓ Registration deleted\nCancelled\. Nothing stays connected\.\n$/,
      );
    });
  });

  describe('members suspend, for a member that the gate has never seen,', () => {
    it('asks, and does nothing after no, Enter or Ctrl-C', async () => {
      for (const key of ['n\n', '\n', '\u0003']) {
        const suspend = run(`members suspend m-typo ${operating()}`);
        await suspend.shows(
          /No member with the id m-typo has ever connected an app\. Allow no connections from now on\? \[y\/N\] /,
        );
        suspend.type(key);
        expect([key, await suspend.exited]).toEqual([key, 2]);
        expect(suspend.output()).toContain('Cancelled: nothing was changed.');
      }
      expect((await operate(world, 'members', 'show', 'm-typo')).code).toBe(2);
    });

    it('suspends after yes', async () => {
      const suspend = run(`members suspend m-later ${operating()}`);
      await suspend.shows(/\[y\/N\] /);
      suspend.type('y\n');
      expect(await suspend.exited).toBe(0);
      expect((await operate(world, 'members', 'show', 'm-later')).stdout).toMatch(/state +suspended/);
    });
  });

  it('members revoke says what will happen, asks, and names how many are meant', async () => {
    await connect(await registerApp(world.origin));
    const revoke = run(`members revoke m-1001 ${operating()}`);
    await revoke.shows(
      /All connected apps lose access at once\. They can be connected again\.\s+Disconnect all apps of m-1001\? \[y\/N\] /,
    );
    revoke.type('n\n');
    expect(await revoke.exited).toBe(2);
    const several = run(`members revoke m-1001 m-1001 ${operating()}`);
    await several.shows(/Disconnect all apps of 2 members\? \[y\/N\] /);
    several.type('y\n');
    expect(await several.exited).toBe(0);
    expect(several.output()).toMatch(/revoked m-1001: 1 connections ended\s+revoked m-1001: 0 connections ended/);
    expect((await operate(world, 'members', 'resume', 'm-1001')).stdout).toBe('m-1001 was not suspended\n');
  });

  it('without one, an id that the gate has never seen is refused, and nothing is changed', async () => {
    for (const verb of ['suspend', 'revoke', 'resume']) {
      const { code, stdout, stderr } = await operate(world, 'members', verb, 'm-nobody');
      expect([verb, code, stdout]).toEqual([verb, 2, '']);
      expect(stderr).toMatch(/^No member with the id m-nobody has ever connected an app\.\nNothing was changed\./);
      expect(stderr).toMatch(/\nTry: npx coursegate members list --config \S+ --admin \S+\n$/);
    }
    for (const verb of ['revoke', 'disable', 'enable', 'delete']) {
      const { code, stdout, stderr } = await operate(world, 'clients', verb, 'no-such-app');
      expect([verb, code, stdout]).toEqual([verb, 2, '']);
      expect(stderr).toMatch(/^No app has the id no-such-app\.\nNothing was changed\./);
    }
    expect((await operate(world, 'grants', 'revoke', 'no-such-grant')).code).toBe(2);
    expect((await operate(world, 'members', 'suspend', 'm-nobody', '--yes')).code).toBe(0);
    expect((await operate(world, 'members', 'resume', 'm-nobody')).stdout).toBe('resumed m-nobody\n');
  });
});

describe('an admin address that is not that of a gate', () => {
  const site = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Harbour School</title><p>Welcome'),
  );
  let address = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => site.close());

  it.each([
    'health',
    'health --json',
    'health --live',
    'observed',
    'events list',
    'members list',
    'clients show x',
    'console --no-browser',
  ])(
    'is named by %s, without its page',
    async (words) => {
      const { code, stdout, stderr } = await runToEnd([...words.split(' '), '--admin', address]);
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr.split('\n')[0]).toBe(
        `No gate answers at ${address}, but something else: 200, a page “Harbour School”.`,
      );
      expect(stderr).not.toContain('<');
    },
    180_000,
  );
});
