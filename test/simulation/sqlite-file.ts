import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECK_LIMITS } from '../../src/storage/sqlite/check.ts';
import { openDatabase } from '../../src/storage/sqlite/file.ts';
import { sqliteSpace } from '../../src/storage/sqlite/space.ts';
import { storeOn } from '../../src/storage/sqlite/sqlite-store.ts';
import { takeOverSync } from '../../src/storage/sqlite/sync.ts';
import type { Clock, StoredEntry } from '../../src/storage/store.ts';
import type { Files } from './power-loss.ts';

/** An open store in a file. */
export type SqliteFile = ReturnType<typeof openFile>;

/** In memory if possible: what counts as synced is decided by the simulation. */
let folder: string | undefined;
let files = 0;

function newFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coursegate-simulated-'));
    folder = made;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  files += 1;
  const of = join(folder, `${files}`);
  mkdirSync(of);
  return of;
}

/**
 * Opens a copy of these files with the code of the gate. `sync` stands for the sync of the log, which is not left to the
 * disk, and checkpoints come when they are asked for: how many pages a commit writes depends on random ids.
 */
export function openFile({ main, log }: Files, clock: Clock, sync: () => Promise<void>) {
  const of = newFolder();
  const path = join(of, 'coursegate.db');
  writeFileSync(path, main);
  if (log.length > 0) writeFileSync(`${path}-wal`, log);
  const opened = openDatabase(path, CHECK_LIMITS);
  const { database, unlock } = opened;
  const space = sqliteSpace(database, path);
  const { close } = takeOverSync(database, path);
  database.exec('PRAGMA wal_autocheckpoint = 0');
  const raw = storeOn({ ...opened, space, log: { sync, close } }, clock);
  const marker = database.prepare('SELECT payload FROM entry WHERE kind = ? AND id = ?');
  return {
    path,
    raw,
    /** The payload of an entry as it is in the file, synced or not. */
    payloadOf: (kind: string, id: string) => marker.get(kind, id)?.payload as string | undefined,
    checkpoint: () => database.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    /** Ends it as a crash does: nobody waits for anything. */
    close(): void {
      database.close();
      close();
      unlock();
      rmSync(of, { recursive: true, force: true });
    },
  };
}

/** The files of a store with these entries. */
export async function imageOf(entries: readonly StoredEntry[], clock: Clock): Promise<Files> {
  const path = join(newFolder(), 'coursegate.db');
  const opened = openDatabase(path, CHECK_LIMITS);
  const log = takeOverSync(opened.database, path);
  const store = storeOn({ ...opened, space: sqliteSpace(opened.database, path), log }, clock);
  await store.commit(entries.map((entry) => ({ op: 'restore', ...entry })));
  await store.close();
  return { main: readFileSync(path), log: Buffer.alloc(0) };
}
