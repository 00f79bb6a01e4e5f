import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../../../src/storage/open.ts';
import { sealedStore } from '../../../../src/storage/seal.ts';
import { secretsBeside } from '../../../../src/storage/sqlite/secret.ts';
import { toRow } from '../../../../src/storage/sqlite/statements.ts';
import { jsonEntry, type Mutation, type RawStore, type Store } from '../../../../src/storage/store.ts';
import { entryOf } from '../../../../src/storage/table.ts';

export interface Seed {
  readonly grants: number;
  readonly members: number;
  readonly apps: number;
  /** Milliseconds. */
  readonly now?: number;
}

/** Apps that write have these scopes. */
const WRITES = 'openid profile account:read courses:read courses:write';
const READS = 'openid profile account:read orders:read';
const DAY = 86_400;
/** Entries of one commit. */
const BATCH = 4000;

/** Seeds the store of a world while its gate is stopped. */
export async function seedFast(data: string, given: Seed): Promise<void> {
  const path = join(data, 'coursegate.db');
  const { raw, close } = withoutIndexes(path);
  await seed(sealedStore(raw, secretsBeside(path)), given);
  close();
}

/**
 * An embedded store that only takes new entries, without the indexes, which are made when it is closed: a hundred thousand grants
 * take two or three seconds instead of twenty.
 */
export function withoutIndexes(path: string): { readonly raw: RawStore; readonly close: () => void } {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA cache_size = -200000');
  const indexes = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'entry' AND sql IS NOT NULL")
    .all();
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  const { selectOne, put } = prepareFew(database);
  const raw = {
    get: async (kind: string, id: string) => {
      const row = selectOne.get(kind, id);
      return row && entryOf(row);
    },
    async commit(mutations: readonly Mutation[]) {
      database.exec('BEGIN');
      for (const mutation of mutations) if ('entry' in mutation) put.run(...toRow(mutation.entry));
      database.exec('COMMIT');
      return true;
    },
  };
  const close = () => {
    for (const { sql } of indexes) database.exec(String(sql));
    database.exec('PRAGMA journal_mode = WAL');
    database.close();
  };
  return { raw: raw as unknown as RawStore, close };
}

function prepareFew(database: DatabaseSync) {
  const columns =
    'kind, id, payload, expires_at, ref_grant, ref_member, ref_client, ref_uid, quota, by_network, by_wider, by_client';
  return {
    selectOne: database.prepare('SELECT * FROM entry WHERE kind = ? AND id = ?'),
    put: database.prepare(`INSERT INTO entry (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  };
}

/** Opens the store of a world while its gate is stopped. */
export async function withStore<T>(data: string, work: (store: Store) => Promise<T>): Promise<T> {
  const sqlite = { kind: 'sqlite', path: join(data, 'coursegate.db') } as const;
  const { store } = await openStore(sqlite, { secret: undefined, redis: undefined }, Date.now);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export const memberId = (at: number): string => `m-${at}`;
export const appId = (at: number): string => (at % 4 === 3 ? `https://app${at}.example/client.json` : `app-${at}`);
export const grantId = (at: number): string => String(at).padStart(32, '0');

/**
 * Members, apps and grants as the gate stores them: grant `n` is of member `n mod members`, and its app `n mod apps`, or
 * the next after a round. Every third grant was never used; apps with an odd number may write.
 */
export async function seed(store: Store, { grants, members, apps, now = Date.now() }: Seed): Promise<void> {
  const seconds = Math.floor(now / 1000);
  const batch: Mutation[] = [];
  const put = async (...entry: Parameters<typeof jsonEntry>) => {
    batch.push({ op: 'put', entry: jsonEntry(...entry) });
    if (batch.length >= BATCH) await store.commit(batch.splice(0));
  };
  for (let at = 0; at < members; at += 1) {
    const sub = memberId(at);
    await put('Member', sub, { sub, name: nameOf(at), email: `person${at}@mail.example` }, undefined);
  }
  for (let at = 0; at < apps; at += 1) {
    const id = appId(at);
    const metadata = {
      client_id: id,
      client_name: `${APPS[at % APPS.length]} ${at}`,
      redirect_uris: [`https://app${at}.example/callback`],
    };
    if (id.startsWith('https:')) {
      const record = { document: metadata, fetchedAt: now, freshUntil: now + 3_600_000, used: true };
      await put('ClientDocument', id, record, seconds + 30 * DAY);
    } else await put('Client', id, { ...metadata, client_id_issued_at: seconds - DAY }, undefined, { client: id });
  }
  for (let at = 0; at < grants; at += 1) {
    const jti = grantId(at);
    const accountId = memberId(at % members);
    const appAt = (at + Math.floor(at / members)) % apps;
    const clientId = appId(appAt);
    const grant = {
      ...{ jti, accountId, clientId, iat: seconds - 60 * at, openid: { scope: appAt % 2 === 1 ? WRITES : READS } },
      resources: { 'http://localhost': READS },
    };
    const expiresAt = seconds + 365 * DAY;
    await put('Grant', jti, grant, expiresAt, { member: accountId, client: clientId });
    if (at % 3 === 0)
      await put('GrantLastUse', jti, { grantId: jti, at: seconds - 30 * at }, expiresAt, {
        grant: jti,
        member: accountId,
      });
  }
  await store.commit(batch);
}

const APPS = ['Quiz Helper', 'Calendar Sync', 'Study Buddy', 'Claude', 'Reading List'];
const FIRST = ['Ann', 'Ben', 'Chloë', 'Dae', 'Élise', 'Farid', 'Grace', 'Hugo', 'Inés', 'Jón'];
const LAST = ['Smith', 'Okafor', 'Müller', 'Nguyen', 'García', 'Sato', 'Novak', 'Haddad', 'Larsen', 'Silva'];

export function nameOf(at: number): string {
  return `${FIRST[at % 10]} ${LAST[Math.floor(at / 10) % 10]} ${at}`;
}
