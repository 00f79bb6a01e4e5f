import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it, vi } from 'vitest';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import type { Mutation } from '../../../src/storage/store.ts';

/** Short by default; `npm run test:faults` tests ten thousand images. */
const WHOLE = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 0) >= 100;
const COMMITS = WHOLE ? 1400 : 110;
const IMAGES_EACH = WHOLE ? 7 : 2;
/** Images per commit that is followed by a checkpoint. */
const OF_CHECKPOINT = 12;
/** How many of ten written parts did not reach the disk. */
const LOST = [0, 1, 5, 9] as const;

// In memory if possible: only the bytes matter, and there are very many files.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coursegate-power-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Files {
  readonly main: Buffer;
  readonly log: Buffer;
}

/** The entries after a commit: ids, and whether they are used. */
type State = ReadonlyMap<string, boolean>;

let seed = 20_260_101;
/** A repeatable random number, at least 0 and less than `below`. */
function random(below: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
}

/** A commit like those of a token request: new entries, one used entry, one deleted entry. */
function commitOf(at: number): readonly Mutation[] {
  const payload = String(at).padEnd(200 + (at % 7) * 500, 'x');
  const references = { grant: `g-${at % 11}`, member: `m-${at % 5}` };
  const put = (id: string): Mutation => ({
    op: 'put',
    entry: { kind: 'K', id, payload, expiresAt: undefined, references },
  });
  return [
    put(`a-${at}`),
    ...Array.from({ length: 8 }, (_, one) => put(`f-${at}-${one}`)),
    put(`b-${at}`),
    ...(at > 0 ? [{ op: 'consume', kind: 'K', id: `a-${at - 1}` } as const] : []),
    ...(at > 3 ? [{ op: 'delete', kind: 'K', id: `b-${at - 3}` } as const] : []),
  ];
}

function after(state: State, mutations: readonly Mutation[]): State {
  const next = new Map(state);
  for (const mutation of mutations) {
    if (mutation.op === 'put') next.set(mutation.entry.id, false);
    if (mutation.op === 'consume') next.set(mutation.id, true);
    if (mutation.op === 'delete') next.delete(mutation.id);
  }
  return next;
}

/**
 * A file after a power loss between two syncs: some of the written parts of `unit` bytes reached the disk and others did
 * not, in any order. A file that grew has any length in between.
 */
function torn(before: Buffer, written: Buffer, unit: number): Buffer {
  const lost = LOST[random(LOST.length)] ?? 0;
  const image = Buffer.from(written);
  for (let from = 0; from < image.length; from += unit) {
    const to = Math.min(from + unit, image.length);
    if (random(10) >= lost) continue;
    // This part was never written: it has its old content, or zeros after the end of the old file.
    image.fill(0, from, to);
    if (from < before.length) before.copy(image, from, from, Math.min(to, before.length));
  }
  if (random(3) > 0 || written.length <= before.length) return image;
  const cut = before.length + random(Math.ceil((written.length - before.length) / unit)) * unit;
  return image.subarray(0, cut);
}

/** Opens an image as the gate does, which throws if it is damaged. Returns its entries. */
async function opened({ main, log }: Files): Promise<State> {
  const image = join(folder, 'image');
  mkdirSync(image);
  const path = join(image, 'coursegate.db');
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, log);
  try {
    const store = sqliteStore(path, Date.now);
    // The store accepts writes.
    await store.commit([
      { op: 'put', entry: { kind: 'New', id: 'n', payload: '', expiresAt: undefined, references: {} } },
    ]);
    await store.close();
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare("SELECT id, consumed_at FROM entry WHERE kind = 'K'").all();
    database.close();
    return new Map(rows.map(({ id, consumed_at }) => [String(id), consumed_at !== null]));
  } finally {
    rmSync(image, { recursive: true });
  }
}

const text = (state: State) => JSON.stringify([...state].toSorted());

it(`a store survives more than ${COMMITS * IMAGES_EACH} power losses with every acknowledged commit and no partial one`, {
  timeout: WHOLE ? 1_800_000 : 180_000,
}, async () => {
  const path = join(folder, 'store', 'coursegate.db');
  const store = sqliteStore(path, Date.now);
  const files = (): Files => ({ main: readFileSync(path), log: readFileSync(`${path}-wal`) });
  let state: State = new Map();
  let before = files();
  const seen = { images: 0, asBefore: 0, asAfter: 0, checkpoints: 0, restarts: 0 };
  /** The files after each statement of a commit that wrote to them; the file may grow before the commit. */
  let steps: Files[] = [];
  const exec = DatabaseSync.prototype.exec;
  const watched = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    exec.call(this, sql);
    if (this.location() === path && !/^PRAGMA max_page_count|^BEGIN/.test(sql)) steps.push(files());
  });
  for (let at = 0; at < COMMITS; at += 1) {
    const mutations = commitOf(at);
    steps = [];
    expect(await store.commit(mutations)).toBe(true);
    const next = after(state, mutations);
    for (const now of steps) {
      const checkpoint = !now.main.equals(before.main);
      if (!checkpoint && now.log.equals(before.log)) continue;
      if (checkpoint) seen.checkpoints += 1;
      if (before.log.length >= 32 && !now.log.subarray(0, 32).equals(before.log.subarray(0, 32))) seen.restarts += 1;
      for (let image = 0; image < (checkpoint ? OF_CHECKPOINT : IMAGES_EACH); image += 1) {
        seen.images += 1;
        const unit = random(2) === 0 ? 512 : 4096;
        // Before the commit's sync, the log can be torn. It is synced before a checkpoint, in which the main file can be torn.
        if (!checkpoint || image % 2 === 0) {
          const found = text(await opened({ main: before.main, log: torn(before.log, now.log, unit) }));
          expect([text(state), text(next)], `commit ${at}, the log torn at ${unit}`).toContain(found);
          seen[found === text(state) ? 'asBefore' : 'asAfter'] += 1;
        } else {
          const found = await opened({ main: torn(before.main, now.main, unit), log: now.log });
          const whole = text(await opened(now));
          expect([text(state), text(next)]).toContain(whole);
          expect(text(found), `commit ${at}, the file torn at ${unit}`).toBe(whole);
        }
      }
      before = now;
    }
    const now = before;
    // An acknowledged and synced commit must always be there.
    if (at % 20 === 0) expect(text(await opened(now))).toBe(text(next));
    state = next;
  }
  watched.mockRestore();
  await store.close();
  process.stdout.write(`power losses: ${JSON.stringify(seen)}\n`);
  // The run covered checkpoints and restarts of the log.
  expect(Math.min(seen.checkpoints, seen.restarts)).toBeGreaterThan(0);
  expect(Math.min(seen.asBefore, seen.asAfter)).toBeGreaterThan(COMMITS / 8);
});
