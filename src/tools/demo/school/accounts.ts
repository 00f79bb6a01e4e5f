import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DEMO_PASSWORDS, type Member } from './data/members.ts';

interface Account {
  readonly member: Member;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** The members who can sign in. */
export interface Accounts {
  /** Checks an email address and a password; undefined when they are wrong. */
  check(login: string, password: string): Promise<Member | undefined>;
  byId(id: string): Member | undefined;
}

const HASH_BYTES = 32;
const COST: ScryptOptions = { N: 16_384, r: 8, p: 1 };
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Creates the accounts. Only hashes of the passwords are kept. */
export async function openAccounts(members: readonly Member[]): Promise<Accounts> {
  const accounts = new Map<string, Account>();
  for (const member of members) {
    accounts.set(member.email, await accountFor(member, DEMO_PASSWORDS[member.id] ?? randomBytes(16).toString('hex')));
  }
  // An unknown login is compared with this, so that it takes as long as a known one.
  const nobody = { salt: randomBytes(16), hash: randomBytes(HASH_BYTES) };
  return {
    async check(login, password) {
      const account = accounts.get(login.trim().toLowerCase());
      const { salt, hash } = account ?? nobody;
      const same = timingSafeEqual(await derive(password, salt, HASH_BYTES, COST), hash);
      return same ? account?.member : undefined;
    },
    byId: (id) => members.find((member) => member.id === id),
  };
}

async function accountFor(member: Member, password: string): Promise<Account> {
  const salt = randomBytes(16);
  return { member, salt, hash: await derive(password, salt, HASH_BYTES, COST) };
}
