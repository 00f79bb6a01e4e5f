import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Redis } from 'ioredis';
import { type SqlDialect, sql } from '../../src/storage/sql/session.ts';

/** The usable entries of one grant in the store, by kind. */
export interface Family {
  readonly codes: number;
  readonly used_codes: number;
  readonly refresh_tokens: number;
  readonly access_tokens: number;
}

/**
 * Reads the store as the dead process left it. Uses a copy, because opening a store repairs it, which the gate must do
 * itself. Ids and members are hashed there, but the entries of one grant can still be related.
 */
export function familiesInSqlite(data: string): readonly Family[] {
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

const EVERY_ENTRY = `
local found = {}
for _, key in ipairs(redis.call('KEYS', '{coursegate}:entry:*')) do
  local grant, consumed = unpack(redis.call('HMGET', key, 'grant', 'consumedAt'))
  if grant then found[#found + 1] = { string.match(key, 'entry:([^:]*):'), grant, consumed and 1 or 0 } end
end
return found`;

/** The same for Redis, in one script, so that no write happens in between. */
export async function familiesInRedis(redis: Redis): Promise<readonly Family[]> {
  const rows = (await redis.eval(EVERY_ENTRY, 0)) as [kind: string, grant: string, consumed: number][];
  const families = new Map<string, { -readonly [name in keyof Family]: number }>();
  for (const [kind, grant, consumed] of rows) {
    const family = families.get(grant) ?? { codes: 0, used_codes: 0, refresh_tokens: 0, access_tokens: 0 };
    families.set(grant, family);
    if (kind === 'AuthorizationCode') family[consumed === 1 ? 'used_codes' : 'codes'] += 1;
    if (kind === 'RefreshToken' && consumed === 0) family.refresh_tokens += 1;
    if (kind === 'AccessToken') family.access_tokens += 1;
  }
  return [...families.values()];
}

const PER_GRANT = sql(`
  SELECT sum(CASE WHEN kind = 'AuthorizationCode' AND consumed_at IS NULL THEN 1 ELSE 0 END) AS codes,
         sum(CASE WHEN kind = 'AuthorizationCode' AND consumed_at IS NOT NULL THEN 1 ELSE 0 END) AS used_codes,
         sum(CASE WHEN kind = 'RefreshToken' AND consumed_at IS NULL THEN 1 ELSE 0 END) AS refresh_tokens,
         sum(CASE WHEN kind = 'AccessToken' THEN 1 ELSE 0 END) AS access_tokens
    FROM coursegate_entry WHERE ref_grant IS NOT NULL GROUP BY ref_grant`);

/** The same for PostgreSQL and MariaDB. */
export async function familiesInSql(dialect: SqlDialect, url: string): Promise<readonly Family[]> {
  const session = await dialect.connect(url);
  const [rows = []] = await session.run(PER_GRANT);
  session.close();
  return rows.map((row) => ({
    codes: Number(row.codes),
    used_codes: Number(row.used_codes),
    refresh_tokens: Number(row.refresh_tokens),
    access_tokens: Number(row.access_tokens),
  }));
}
