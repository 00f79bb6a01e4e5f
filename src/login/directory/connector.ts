import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { foldAccountName } from '../../oauth/account-name.ts';
import { detailsOf } from '../../oauth/member-details.ts';
import type { Log } from '../../operations/log.ts';
import { BUSY_SECONDS, type Hashing } from '../../passwords/hashing.ts';
import { type PasswordHash, readPasswordHash } from '../../passwords/password-hash.ts';
import type { CredentialCheck, Login, Recheck } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { sharedHashing } from '../shared-hashing.ts';
import type { DirectoryLoginConfig } from './settings.ts';
import { type DirectoryMember, parseMembers } from './settings-members.ts';

export interface MembersFileOptions {
  /** Absolute path of the members file. */
  readonly file: string;
  /** Its content when the configuration was loaded. */
  readonly members: readonly DirectoryMember[];
  readonly hashing: Hashing;
  readonly log: Pick<Log, 'error'>;
}

export function open({ file }: DirectoryLoginConfig, { members = [], log, share }: LoginParts): Login {
  return { shape: 'credentials', ...createDirectory({ file, members, hashing: sharedHashing(share), log }) };
}

/**
 * The `directory` login: members in a file. The file is checked at each sign-in and each refresh, and read again if it
 * has changed. If it has a mistake, the mistake is logged and the previous members stay in effect until it is fixed.
 */
export function createDirectory({ file, members, hashing, log }: MembersFileOptions): {
  readonly check: CredentialCheck;
  readonly recheck: Recheck;
} {
  let directory = indexed(members);
  let stamp: string | undefined;

  const current = async (): Promise<typeof directory> => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const now = `${mtimeMs} ${size} ${ino}`;
      if (now === stamp) return directory;
      const read = parseMembers(file, await readFile(file, 'utf8'));
      stamp = now;
      if (read.members !== undefined) directory = indexed(read.members);
      else {
        const problems = read.problems.map(({ line, path, message }) => `line ${line}: ${path} ${message}`);
        log.error({ problems }, 'the members file has a mistake; the previous members stay in effect');
      }
    } catch (err) {
      if (stamp !== 'gone') log.error({ err }, 'the members file cannot be read; the previous members stay in effect');
      stamp = 'gone';
    }
    return directory;
  };

  return {
    async check({ username, password }) {
      const { byLogin, decoyOf } = await current();
      const login = foldAccountName(username);
      const entry = byLogin.get(login);
      const fits = await hashing.verify((entry ?? decoyOf(login)).hash, password);
      if (fits === 'busy') return { kind: 'slow_down', retryAfter: BUSY_SECONDS };
      if (!fits || entry === undefined) return { kind: 'wrong' };
      const { member } = entry;
      return entry.suspended ? { kind: 'suspended', sub: member.sub } : { kind: 'member', member };
    },

    async recheck(sub) {
      const entry = (await current()).bySub.get(sub);
      if (entry === undefined) return { kind: 'gone' };
      return entry.suspended ? { kind: 'inactive' } : { kind: 'good', version: entry.member.version };
    },
  };
}

function indexed(members: readonly DirectoryMember[]) {
  const entries = members.map(entryOf);
  const salt = digest(members.map(({ password }) => password).join());
  return {
    bySub: new Map(entries.map((entry) => [entry.member.sub, entry])),
    byLogin: new Map(entries.flatMap((entry) => entry.logins.map((name) => [foldAccountName(name), entry]))),
    /** The member whose hash is verified for an unknown login: always the same one, so that it always takes as long. */
    decoyOf(login: string) {
      const number = createHash('sha256').update(`${salt}${login}`).digest().readUInt32BE();
      return entries[number % entries.length] as ReturnType<typeof entryOf>;
    },
  };
}

function entryOf(listed: DirectoryMember) {
  const { id, emailVerified, suspended, password, logins } = listed;
  // A new password ends the connections made with the old one.
  const member = {
    sub: id,
    ...detailsOf(listed),
    emailVerified,
    authTime: undefined,
    acr: undefined,
    version: digest(password),
  };
  return { member, suspended, logins, hash: readPasswordHash(password) as PasswordHash };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
