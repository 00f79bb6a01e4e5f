import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { CHECK_LIMITS } from '../../../src/storage/sqlite/check.ts';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import { runCommand } from '../../support/command.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'coursegate-damage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
/** Writes a store of some hundred pages and closes it. Returns its path. */
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

const opening = async (path: string, limits = CHECK_LIMITS) => {
  try {
    await sqliteStore(path, Date.now, limits).close();
    return 'opened';
  } catch (thrown) {
    return thrown as { code?: string; reason?: string; message?: string };
  }
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
      // In the middle are entries, which neither the start nor most calls read.
      const page = Math.floor(bytes.length / 4096 / 2);
      bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
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

describe('a damaged store', () => {
  it('is distinguished from an intact one', async () => {
    const path = await written();
    expect(pages(path)).toBeGreaterThan(100);
    expect(await opening(path)).toBe('opened');
  });

  it.each(DAMAGES)('%s is refused and left unchanged', async (_name, harm) => {
    const path = await written();
    harm(path);
    const harmed = () => readFileSync(_name.startsWith('gone') ? `${path}-wal` : path);
    const before = harmed();
    expect(await opening(path)).toMatchObject({ reason: 'damaged', code: 'store_unavailable' });
    expect(harmed().equals(before)).toBe(true);
  });

  it('can be moved away, after which a new one is created', async () => {
    const path = await written();
    truncateSync(path, 50);
    renameSync(path, `${path}.damaged`);
    expect(await opening(path)).toBe('opened');
  });

  it('keeps the gate from starting, with a message that says what to do', async () => {
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
      /^The store \S+coursegate\.db is damaged \([^\n]+\): restore a backup, or move it away together with its -wal and -shm files; members then have to approve their apps again\.\nTry: npx coursegate serve --help\n$/,
    );
    expect(command.stderr()).toContain(path);
  });
});

describe('a large store', () => {
  /** Treats every store as large, and waits this many milliseconds at start. */
  const within = (patience: number) => ({ atOnce: 0, patience });
  const garble = DAMAGES.find(([name]) => name === 'garbled in one page')?.[1] ?? (() => {});

  it('is checked in a thread, and opens as soon as no damage is found', async () => {
    const path = await written();
    const began = performance.now();
    expect(await opening(path, within(20_000))).toBe('opened');
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it.each(DAMAGES)('%s is refused at start', async (_name, harm) => {
    const path = await written();
    harm(path);
    expect(await opening(path, within(20_000))).toMatchObject({ reason: 'damaged' });
  });

  it('opens before the check has finished, and stops working when it finds damage', async () => {
    const path = await written();
    garble(path);
    const store = sqliteStore(path, Date.now, within(0));
    const put = {
      op: 'put',
      entry: { kind: 'A', id: 'a', payload: '', expiresAt: undefined, references: {} },
    } as const;
    const told = { code: 'store_unavailable', cause: { reason: 'damaged', message: expect.stringContaining(path) } };
    // No page that these calls read is damaged: only the check can find the damage.
    await vi.waitFor(() => expect(store.get('A', 'none')).rejects.toMatchObject(told), { timeout: 15_000 });
    await expect(store.commit([put])).rejects.toMatchObject(told);
    await expect(store.findBy('Grant', 'member', 'none')).rejects.toMatchObject(told);
    await expect(store.sweep(1)).rejects.toMatchObject(told);
    await expect(store.compact(1)).rejects.toMatchObject(told);
    await store.close();
  });

  it('can be closed during the check, and opened again', async () => {
    const path = await written();
    for (let at = 0; at < 3; at += 1) await sqliteStore(path, Date.now, within(0)).close();
    expect(await opening(path)).toBe('opened');
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('a store at a path', () => {
  it('that cannot be opened is reported as such', async () => {
    const path = join(folder, 'a-folder.db');
    mkdirSync(path);
    expect(await opening(path)).toMatchObject({ reason: 'unopenable', message: expect.stringContaining(path) });
    writeFileSync(join(folder, 'a-file'), '');
    expect(await opening(join(folder, 'a-file', 'coursegate.db'))).toMatchObject({ reason: 'unopenable' });
  });
});
