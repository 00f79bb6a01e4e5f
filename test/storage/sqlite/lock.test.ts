import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import { gateProcess } from '../../faults/gate-process.ts';
import { runCommand } from '../../support/command.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'coursegate-lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entry = { kind: 'Grant', id: 'g', payload: '{}', expiresAt: undefined, references: {} };

/** Tests the lock from another process: within one process, SQLite knows its own locks without asking the system. */
function lockedForOthers(path: string): boolean {
  const script = "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('BEGIN EXCLUSIVE')";
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, `${path}-lock`], { encoding: 'utf8' });
  if (status !== 0) expect(stderr).toContain('database is locked');
  return status !== 0;
}

/** How often this process has the file open. */
function descriptorsOf(path: string): number {
  const open = readdirSync('/proc/self/fd').map((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`);
    } catch {
      return undefined;
    }
  });
  return open.filter((target) => target === path).length;
}

describe('a store that another gate has open', () => {
  it('is refused until it is closed there, or if opening it failed there', async () => {
    const path = join(folder, 'one', 'coursegate.db');
    const first = sqliteStore(path, Date.now);
    expect(statSync(`${path}-lock`).mode & 0o777).toBe(0o600);
    const open: number[] = [];
    for (let at = 0; at < 2; at += 1) {
      expect(() => sqliteStore(path, Date.now)).toThrow(expect.objectContaining({ reason: 'in-use' }));
      open.push(descriptorsOf(`${path}-lock`));
    }
    // SQLite keeps one descriptor for the next attempt, because closing it would release the lock.
    expect(open[1]).toBe(open[0]);
    // The refused attempts have not released the lock, nor affected the store that holds it.
    expect(lockedForOthers(path)).toBe(true);
    await first.commit([{ op: 'put', entry }]);
    await first.close();
    expect(lockedForOthers(path)).toBe(false);
    const damaged = join(folder, 'damaged.db');
    writeFileSync(damaged, '');
    expect(() => sqliteStore(damaged, Date.now)).toThrow(expect.objectContaining({ reason: 'damaged' }));
    expect(lockedForOthers(damaged)).toBe(false);
    const next = sqliteStore(path, Date.now);
    expect(await next.get('Grant', 'g')).toBeDefined();
    await next.close();
  });

  it('is refused in a second process with a message, and available at once after a kill', async () => {
    const gate = await gateProcess();
    try {
      await gate.start();
      const second = runCommand(['serve', '--config', CONFIG], {
        PORT: '0',
        ADMIN_PORT: '0',
        COURSEGATE_DATA: gate.data,
      });
      expect(await second.exited).toBe(1);
      expect(second.stdout()).toBe('');
      expect(second.stderr()).toMatch(
        /^The store \S+coursegate\.db is in use by another coursegate \([^\n]+\): stop the other gate first, or use another file\. Several gates can only share a store in a server \(docs\/stores\.md\)\.\nTry: npx coursegate serve --help\n$/,
      );
      expect((await fetch(`${gate.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
      await gate.kill();
      await gate.start();
      expect(readdirSync(gate.data)).toContain('coursegate.db-lock');
    } finally {
      await gate.close();
    }
  });
});
