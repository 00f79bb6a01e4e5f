import { createHash } from 'node:crypto';
import { DATABASE_CONNECTIONS } from '../../config/constants.ts';
import { requiredSecret } from '../../config/read-secrets.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import type { Log } from '../../operations/log.ts';
import { BUSY_SECONDS, type Hashing } from '../../passwords/hashing.ts';
import { type PasswordHash, passwordHashProblem, readPasswordHash } from '../../passwords/password-hash.ts';
import type { CredentialCheck, Login, Member, Recheck } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { unavailable } from '../outbound-fetch.ts';
import { sharedHashing } from '../shared-hashing.ts';
import { readFlag, readMember, readVersion } from '../whoami/member.ts';
import { mysqlReader } from './mysql.ts';
import { postgresReader } from './postgres.ts';
import type { DatabaseRow, Reader, ReaderOptions } from './reader.ts';
import type { DatabaseLoginConfig } from './settings.ts';
import { sqliteReader } from './sqlite.ts';

export { checkInstalled } from './check-driver.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Appended to each password before it is hashed. */
  readonly pepper: string | undefined;
  readonly hashing: Hashing;
  readonly log: Pick<Log, 'error'>;
}

const LONGEST_HASH = 1024;

/** Verified for unknown logins until a member's hash has been seen, which then serves as the decoy. */
const FIRST_DECOY = '$2y$10$wV3K1xJc0nPq7mE2dYzRUe0aS9vBh5tLr8GiNk4XfOo6uCjMlTyWq';

export function open(config: DatabaseLoginConfig, { secrets, log, share }: LoginParts): Login {
  const url = requiredSecret(secrets, 'login.url');
  const pepper = secrets.get('login.hash.pepper');
  return { shape: 'credentials', ...databaseCheck(config, { url, pepper, hashing: sharedHashing(share), log }) };
}

/**
 * The `database` login: reads the member's row with one query and verifies the hash here. If the query fails or is wrong,
 * sign-in is unavailable; that is never reported as a wrong password. Problems of a single member (several rows, an
 * unreadable hash) only go to the log: reporting them before the password is verified would reveal that the member
 * exists.
 *
 * When an app refreshes its token, the same query looks the member up by the login of their last sign-in.
 */
export function databaseCheck(
  { query, timeout, recheck }: DatabaseLoginConfig,
  { url, pepper = '', hashing, log }: DatabaseOptions,
): { readonly check: CredentialCheck; readonly recheck?: Recheck; close(): Promise<void> } {
  const reader = openReader({ url, query, timeout: timeout * 1000, connections: DATABASE_CONNECTIONS });
  let decoy = readPasswordHash(FIRST_DECOY) as PasswordHash;

  /** A missing column only shows in the row of a member. From then on it is reported for every sign-in. */
  let mistake: Error | undefined;

  const read = async (login: string): Promise<readonly DatabaseRow[]> => {
    const rows = await inTime(reader.rows(login), timeout).catch((thrown: unknown) => {
      throw unavailable('the database of the members cannot be queried', thrown);
    });
    const [row] = rows;
    const missing = row === undefined ? undefined : ['id', 'hash'].find((name) => !Object.hasOwn(row, name));
    if (missing !== undefined) mistake = new Error(`login.query returns no column ${missing}`);
    else if (row !== undefined) mistake = undefined;
    if (mistake !== undefined) throw unavailable(mistake.message);
    return rows;
  };

  const hashOf = (row: DatabaseRow): { readonly text: string; readonly hash: PasswordHash } | undefined => {
    const text = asText(row.hash, 'hash');
    // No password: the member signs in elsewhere or has not set one yet.
    if (text === undefined || text === '') return undefined;
    if (text.length > LONGEST_HASH) throw new Error('the value in column hash is not a password hash');
    const found = readPasswordHash(text);
    if (found === undefined) throw new Error(`the value in column hash ${passwordHashProblem(text)}`);
    return { text, hash: found };
  };

  /** The row and hash to verify; undefined if there is no such member or the log says why they cannot sign in. */
  const candidate = (rows: readonly DatabaseRow[]) => {
    const [row] = rows;
    if (row === undefined) return undefined;
    try {
      if (rows.length > 1) throw new Error('login.query returned more than one row for one login');
      const found = hashOf(row);
      return found && { row, ...found };
    } catch (err) {
      log.error({ err, member: plain(row.id) }, 'a member cannot sign in');
      return undefined;
    }
  };

  const versionOf = (row: DatabaseRow, hash: string): string | undefined => {
    if (Object.hasOwn(row, 'version')) return readVersion(plain(row.version));
    // With `recheck` the backend provides the version. Ours would differ from it.
    return recheck === undefined ? hashVersion(hash) : undefined;
  };

  const memberOf = (row: DatabaseRow, hash: string, login: string): Member => {
    const sub = asText(row.id, 'id');
    const details = eachDetail((_, { claim }) => row[claim]);
    const values = { sub, ...details, emailVerified: plain(row.email_verified), version: versionOf(row, hash) };
    return { ...readMember(values), login };
  };

  const check: CredentialCheck = async ({ username, password }) => {
    // No text column can contain NUL, and some databases would truncate the login there.
    const found = username.includes('\0') ? undefined : candidate(await read(username));
    if (found !== undefined) decoy = found.hash;
    const fits = await hashing.verify(found?.hash ?? decoy, password + pepper);
    if (fits === 'busy') return { kind: 'slow_down', retryAfter: BUSY_SECONDS };
    if (!fits || found === undefined) return { kind: 'wrong' };
    const member = memberOf(found.row, found.text, username);
    return isSuspended(found.row) ? { kind: 'suspended', sub: member.sub } : { kind: 'member', member };
  };

  const ownRecheck: Recheck = async (sub, login) => {
    // The last sign-in was before logins were kept: as before, a change shows at the next one.
    if (login === undefined) return { kind: 'good', version: undefined };
    const rows = await read(login);
    const [row] = rows;
    if (rows.length > 1) throw unavailable('login.query returned more than one row for one login');
    // A member who is deleted, excluded by the query, or has given up the login, which another may have by now.
    if (row === undefined || asText(row.id, 'id') !== sub) return { kind: 'gone' };
    const hash = asText(row.hash, 'hash') ?? '';
    // Without a hash the member cannot sign in. A version says that the connections may stay, as while they are locked out.
    if (isSuspended(row) || (hash === '' && !Object.hasOwn(row, 'version'))) return { kind: 'inactive' };
    return { kind: 'good', version: versionOf(row, hash) };
  };

  return {
    check,
    ...(recheck === undefined ? { recheck: ownRecheck } : {}),
    async close(): Promise<void> {
      await inTime(reader.close(), timeout).catch((err: unknown) => {
        log.error({ err }, 'the connections to the database of the members did not close');
      });
    },
  };
}

/** Null, false and 0 mean that the member is not, and so does a query without the column. A date means that they are. */
function isSuspended({ suspended }: DatabaseRow): boolean {
  const value = plain(suspended);
  return value !== undefined && readFlag(value) !== false;
}

/** A value that changes with the password and reveals nothing about its hash. */
function hashVersion(hash: string): string {
  return createHash('sha256').update(`coursegate database hash ${hash}`).digest('base64url');
}

function openReader(options: ReaderOptions): Reader {
  if (options.url.startsWith('postgres')) return postgresReader(options);
  return options.url.startsWith('sqlite:') ? sqliteReader(options) : mysqlReader(options);
}

/** Limits the time for which the member waits, whatever the driver is waiting for. */
async function inTime<T>(work: Promise<T>, seconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${seconds}s`)), seconds * 1000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function asText(value: unknown, column: string): string | undefined {
  const one = plain(value);
  if (one === undefined || typeof one === 'string') return one;
  if (typeof one === 'number' && Number.isSafeInteger(one)) return String(one);
  throw unavailable(`the column ${column} is neither text nor a whole number`);
}

/** Normalises values: databases return integers as bigint, and text in a binary column as bytes. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value instanceof Date ? value.toISOString() : value;
}
