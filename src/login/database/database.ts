import type { DatabaseLoginConfig } from '../../config/database-login.ts';
import type { Log } from '../../operations/log.ts';
import type { CredentialCheck, Member } from '../connector.ts';
import type { Hashing } from '../hashing.ts';
import { unavailable } from '../outbound-fetch.ts';
import { type PasswordHash, passwordHashProblem, readPasswordHash } from '../password-hash.ts';
import { readMember, readVersion } from '../whoami/member.ts';
import { hashVersion } from './hash-version.ts';
import { mysqlReader } from './mysql.ts';
import { postgresReader } from './postgres.ts';
import type { Reader, ReaderOptions, Row } from './reader.ts';
import { sqliteReader } from './sqlite.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Behind each password before it is hashed; '' for none. */
  readonly pepper: string;
  readonly hashing: Hashing;
  readonly log: Pick<Log, 'error'>;
}

/** The check, and what ends its connections. */
export interface DatabaseCheck {
  readonly check: CredentialCheck;
  close(): Promise<void>;
}

const LONGEST_HASH = 1024;

/** Seconds until a machine that has too many passwords to verify is asked again. */
const BUSY = 5;

/** Verified for the login of nobody until a hash of a member was seen, which then shows what the others cost. */
const FIRST_DECOY = '$2y$10$wV3K1xJc0nPq7mE2dYzRUe0aS9vBh5tLr8GiNk4XfOo6uCjMlTyWq';

/**
 * The `database` connector: the row of a login by one query, and its hash verified here. A query that cannot be answered,
 * or is mistaken, is an ill sign-in, never a wrong password. What is ill with one member alone (several rows, a hash that
 * cannot be read) is for the log: shown outside, before any password fits, it would say that there is such a member.
 */
export function databaseCheck(
  { query, hash, columns, timeout, connections, recheck }: DatabaseLoginConfig,
  { url, pepper, hashing, log }: DatabaseOptions,
): DatabaseCheck {
  const reader = open({ url, query, timeout: timeout * 1000, connections });
  let decoy = readPasswordHash(FIRST_DECOY) as PasswordHash;

  /** That the query lacks a column is seen by a member's row alone; from then on everybody is told it. */
  let mistake: Error | undefined;

  const read = async (login: string): Promise<readonly Row[]> => {
    const rows = await inTime(reader.rows(login), timeout).catch((thrown: unknown) => {
      throw unavailable('the database of the members cannot be asked', thrown);
    });
    const [row] = rows;
    const needed = [columns.subject, columns.hash, ...(columns.version === undefined ? [] : [columns.version])];
    const missing = row === undefined ? undefined : needed.find((name) => !Object.hasOwn(row, name));
    if (missing !== undefined) mistake = new Error(`the query of login.query gives no column ${missing}`);
    else if (row !== undefined) mistake = undefined;
    if (mistake !== undefined) throw unavailable(mistake.message);
    return rows;
  };

  const hashOf = (row: Row): { readonly text: string; readonly hash: PasswordHash } | undefined => {
    const text = asText(row[columns.hash], columns.hash);
    // No password: who signs in elsewhere, or was never invited.
    if (text === undefined || text === '') return undefined;
    if (text.length > LONGEST_HASH) throw new Error(`what the column ${columns.hash} holds is no password hash`);
    const found = readPasswordHash(text);
    if (found === undefined) throw new Error(`what the column ${columns.hash} holds ${passwordHashProblem(text)}`);
    if (hash.scheme !== 'auto' && found.scheme !== hash.scheme) {
      throw new Error(`what the column ${columns.hash} holds is ${found.scheme}, and not ${hash.scheme}`);
    }
    return { text, hash: found };
  };

  /** Out: whose password may be verified; undefined for nobody, and for whom the log says what is ill. */
  const candidate = (rows: readonly Row[]) => {
    const [row] = rows;
    if (row === undefined) return undefined;
    try {
      if (rows.length > 1) throw new Error('the query of login.query gave more than one member for one login');
      const found = hashOf(row);
      return found && { row, ...found };
    } catch (err) {
      log.error({ err, member: plain(row[columns.subject]) }, 'a member cannot sign in');
      return undefined;
    }
  };

  const memberOf = (row: Row, text: string): Member => {
    // Who asks the backend again at each refresh is told its version, and ours would be another.
    const own = recheck === undefined ? hashVersion(text) : undefined;
    const version = columns.version === undefined ? own : readVersion(plain(row[columns.version]));
    const sub = asText(row[columns.subject], columns.subject);
    const values = { sub, email: row[columns.email], name: row[columns.name], authTime: undefined, acr: undefined };
    return readMember(values, version);
  };

  const check: CredentialCheck = async ({ username, password }) => {
    // No database can hold it, and some end the text there.
    const found = username.includes('\0') ? undefined : candidate(await read(username));
    if (found !== undefined) decoy = found.hash;
    const fits = await hashing.verify(found?.hash ?? decoy, password + pepper);
    if (fits === 'busy') return { kind: 'slow_down', retryAfter: BUSY };
    if (!fits || found === undefined) return { kind: 'wrong' };
    return { kind: 'member', member: memberOf(found.row, found.text) };
  };

  return {
    check,
    async close() {
      await inTime(reader.close(), timeout).catch((err: unknown) => {
        log.error({ err }, 'the connections to the database of the members did not end');
      });
    },
  };
}

function open(options: ReaderOptions): Reader {
  if (options.url.startsWith('postgres')) return postgresReader(options);
  return options.url.startsWith('sqlite:') ? sqliteReader(options) : mysqlReader(options);
}

/** Whatever a driver waits for, the member does not wait longer. */
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
  throw unavailable(`the column ${column} holds neither a text nor a whole number`);
}

/** Databases give whole numbers as bigint, and texts of a binary column as bytes. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value instanceof Date ? value.toISOString() : value;
}
