import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, introspect, registerApp, revoke } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

describe('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-backup-'));
  const copy = join(folder, 'backups', 'copy.db');
  let gate: GateProcess;
  let app: App;
  beforeAll(async () => {
    mkdirSync(join(folder, 'backups'));
    gate = await gateProcess();
    await gate.start();
    app = await registerApp(gate.origin);
  });
  afterAll(async () => {
    await gate.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const connected = async () => (await connect(app)) as unknown as Tokens;
  const run = async (to: string, environment: Record<string, string> = {}) => {
    const command = runCommand(['backup', '--config', CONFIG, '--to', to], {
      COURSEGATE_DATA: gate.data,
      ...environment,
    });
    return { code: await command.exited, stdout: command.stdout(), stderr: command.stderr() };
  };

  it('made while tokens are issued contains what was acknowledged, and restores nothing that was revoked', async () => {
    const [kept, cut] = [await connected(), await connected()];
    await revoke(app, cut.refresh_token);
    let going = true;
    const issued = (async () => {
      while (going) await connected();
    })();
    const made = await run(copy);
    going = false;
    await issued;
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain(`Copied ${join(gate.data, 'coursegate.db')} to ${copy}.`);
    expect(made.stdout).toContain(join(gate.data, 'coursegate.secret'));
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'backups'))).toEqual(['copy.db']);

    const later = await connected();
    await gate.kill();
    for (const name of ['coursegate.db', 'coursegate.db-wal', 'coursegate.db-shm']) {
      rmSync(join(gate.data, name), { force: true });
    }
    cpSync(copy, join(gate.data, 'coursegate.db'));
    await gate.start();
    expect((await introspect(app, kept.access_token)).active).toBe(true);
    expect((await token(app, refreshForm(app, kept.refresh_token))).status).toBe(200);
    expect((await introspect(app, cut.access_token)).active).toBe(false);
    expect((await token(app, refreshForm(app, cut.refresh_token))).body.error).toBe('invalid_grant');
    expect((await introspect(app, later.access_token)).active).toBe(false);
  });

  it('never overwrites an existing file', async () => {
    const before = readFileSync(copy);
    const again = await run(copy);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toBe(
      `${copy} is there already, and a backup is never written over. Name another file.\nTry: npx coursegate backup --help\n`,
    );
    expect(readFileSync(copy).equals(before)).toBe(true);
  });

  it('names the configured secret when there is one', async () => {
    const made = await run(join(folder, 'named.db'), { COURSEGATE__SECRET__ENV: 'KEY', KEY: 'k'.repeat(40) });
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toContain('the one that `secret` refers to in');
  });

  it.each([
    ['is damaged', 'damaged.db', /damaged/],
    ['is missing', 'nothing.db', /cannot be opened/],
  ])('of a store that %s is refused', async (_name, name, told) => {
    const path = join(folder, name);
    if (name === 'damaged.db') cpSync(fileURLToPath(import.meta.url), path);
    const to = join(folder, `of-${name}`);
    const made = await run(to, { COURSEGATE__STORE__PATH: path });
    expect(made).toMatchObject({ code: 1, stdout: '' });
    expect(made.stderr).toMatch(told);
    expect(existsSync(to)).toBe(false);
    if (name === 'nothing.db') expect(existsSync(path)).toBe(false);
  });

  it('of a store in memory is refused', async () => {
    const made = await run(join(folder, 'memory.db'), { COURSEGATE__STORE: '{ kind: memory }', COURSEGATE_DATA: '' });
    expect(made).toMatchObject({
      code: 1,
      stderr: 'There is nothing to back up: this store is in memory.\nTry: npx coursegate backup --help\n',
    });
  });

  it('of a store in Redis is refused, with advice on how to back up Redis', async () => {
    const made = await run(join(folder, 'redis.db'), {
      COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
      COURSEGATE__SECRET: '{ env: TEST_SECRET }',
      COURSEGATE_DATA: '',
      REDIS_URL: 'redis://127.0.0.1:1',
      TEST_SECRET: 'a secret of at least thirty-two bytes, for tests',
    });
    expect(made).toMatchObject({
      code: 1,
      stderr:
        'This store is in Redis, which keeps its own copies: back up its append-only file, and keep `secret` elsewhere.\nTry: npx coursegate backup --help\n',
    });
  });
});
