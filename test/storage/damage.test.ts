import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../src/storage/sqlite.ts';
import { runCommand } from '../support/command.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'coursegate-damage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
/** A store of some hundred pages, closed. Out: its path. */
async function written(): Promise<string> {
  const path = join(folder, `store-${++made}`, 'coursegate.db');
  const store = sqliteStore(path, Date.now);
  const payload = 'x'.repeat(500);
  const put = (at: number) =>
    ({
      op: 'put',
      entry: { kind: 'Grant', id: `id-${at}`, payload, expiresAt: undefined, references: { member: `m-${at % 7}` } },
    }) as const;
  await store.commit(Array.from({ length: 1000 }, (_, at) => put(at)));
  await store.close();
  return path;
}

const opening = (path: string) => {
  let opened: unknown = 'opened';
  try {
    void sqliteStore(path, Date.now).close();
  } catch (thrown) {
    opened = thrown;
  }
  return opened as { code?: string; reason?: string; message?: string } | 'opened';
};

const pages = (path: string) => readFileSync(path).length / 4096;
const DAMAGES: [string, (path: string) => void][] = [
  ['emptied', (path) => truncateSync(path)],
  ['cut in half at a page', (path) => truncateSync(path, Math.floor(pages(path) / 2) * 4096)],
  ['cut inside a page', (path) => truncateSync(path, Math.floor(pages(path) / 2) * 4096 + 100)],
  ['cut to less than its header', (path) => truncateSync(path, 50)],
  ['no database', (path) => writeFileSync(path, 'a letter to the school\n'.repeat(1000))],
  ['overwritten with zeros', (path) => writeFileSync(path, Buffer.alloc(40_960))],
  [
    'garbled in one page',
    (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0xa5, 20 * 4096, 21 * 4096);
      writeFileSync(path, bytes);
    },
  ],
  [
    'gone while its log is there',
    (path) => {
      renameSync(path, `${path}-wal`);
    },
  ],
];

describe('a store that is damaged', () => {
  it('is told from one that is sound', async () => {
    const path = await written();
    expect(pages(path)).toBeGreaterThan(100);
    expect(opening(path)).toBe('opened');
  });

  it.each(DAMAGES)('%s does not open, and is left as it is', async (_name, harm) => {
    const path = await written();
    harm(path);
    const harmed = () => readFileSync(_name.startsWith('gone') ? `${path}-wal` : path);
    const before = harmed();
    expect(opening(path)).toMatchObject({ reason: 'damaged', code: 'store_unavailable' });
    expect(harmed().equals(before)).toBe(true);
  });

  it('moved away, makes room for a new one', async () => {
    const path = await written();
    truncateSync(path, 50);
    renameSync(path, `${path}.damaged`);
    expect(opening(path)).toBe('opened');
  });

  it('keeps the gate from starting, which says in one sentence what to do', async () => {
    const path = await written();
    truncateSync(path, 3 * 4096);
    const command = runCommand(['serve', '--config', CONFIG], {
      PORT: '0',
      ADMIN_PORT: '0',
      COURSEGATE_DATA: dirname(path),
    });
    expect(await command.exited).toBe(1);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toMatch(
      /^The store \S+coursegate\.db is damaged \([^\n]+\): restore your backup of it, or move it away with its -wal and -shm files, and members will have to approve their apps again\.\n$/,
    );
    expect(command.stderr()).toContain(path);
  });
});

describe('a store that is sound', () => {
  it('and of a newer version is told as that', async () => {
    const path = await written();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 999');
    database.close();
    expect(opening(path)).toMatchObject({ reason: 'newer', message: expect.stringContaining('schema 999') });
  });

  it('and out of reach is told as that', () => {
    const path = join(folder, 'a-folder.db');
    mkdirSync(path);
    expect(opening(path)).toMatchObject({ reason: 'unopenable', message: expect.stringContaining(path) });
    writeFileSync(join(folder, 'a-file'), '');
    expect(opening(join(folder, 'a-file', 'coursegate.db'))).toMatchObject({ reason: 'unopenable' });
  });
});
