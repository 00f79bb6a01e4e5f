import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Writes a store exactly as the first version did, with this number of grants, from `id-0`. */
export function writeVersion1(path: string, grants: number): void {
  mkdirSync(dirname(path), { recursive: true });
  closeSync(openSync(path, 'wx', 0o600));
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE entry (
      kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
      expires_at INTEGER, consumed_at INTEGER,
      ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT,
      PRIMARY KEY (kind, id)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX entry_grant ON entry (kind, ref_grant) WHERE ref_grant IS NOT NULL;
    CREATE INDEX entry_member ON entry (kind, ref_member) WHERE ref_member IS NOT NULL;
    CREATE INDEX entry_client ON entry (kind, ref_client) WHERE ref_client IS NOT NULL;
    CREATE INDEX entry_uid ON entry (kind, ref_uid) WHERE ref_uid IS NOT NULL;
    PRAGMA user_version = 1;
    BEGIN`);
  const put = database.prepare('INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (let at = 0; at < grants; at += 1) {
    const consumed = at % 3 === 0 ? 1_700_000_000 : null;
    const expires = at % 2 === 0 ? 4_000_000_000 : null;
    put.run('Grant', `id-${at}`, `payload-${at}`, expires, consumed, `g-${at}`, `m-${at % 7}`, `c-${at % 5}`, null);
  }
  database.exec('COMMIT');
  database.close();
}
