import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What the store holds of one grant: how many of each can still be used. */
interface Family {
  readonly codes: number;
  readonly used_codes: number;
  readonly refresh_tokens: number;
  readonly access_tokens: number;
}

/**
 * Reads the store as the dead process left it. From a copy: to open it is to repair it, and that is the gate's to do.
 * Ids and members are hashed there, but what is of one grant still stands together.
 */
export function familiesIn(data: string): readonly Family[] {
  const copy = mkdtempSync(join(tmpdir(), 'coursegate-autopsy-'));
  try {
    for (const name of ['coursegate.db', 'coursegate.db-wal']) {
      if (existsSync(join(data, name))) cpSync(join(data, name), join(copy, name));
    }
    const database = new DatabaseSync(join(copy, 'coursegate.db'));
    const rows = database
      .prepare(`
        SELECT count(*) FILTER (WHERE kind = 'AuthorizationCode' AND consumed_at IS NULL) AS codes,
               count(*) FILTER (WHERE kind = 'AuthorizationCode' AND consumed_at IS NOT NULL) AS used_codes,
               count(*) FILTER (WHERE kind = 'RefreshToken' AND consumed_at IS NULL) AS refresh_tokens,
               count(*) FILTER (WHERE kind = 'AccessToken') AS access_tokens
          FROM entry WHERE ref_grant IS NOT NULL GROUP BY ref_grant`)
      .all();
    database.close();
    return rows as unknown as Family[];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
