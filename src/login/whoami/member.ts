import { isSubject } from '../../oauth/subject.ts';
import type { Member } from '../connector.ts';
import { unusable } from './unusable.ts';

/** What stands for bytes that are not UTF-8. */
const LOST = '\ufffd';

const LONGEST_TEXT = 320;
const LONGEST_VERSION = 1024;

/** The values of an answer, as they were found; undefined where nothing was, or none was looked for. */
export type MemberValues = Readonly<Record<'sub' | 'email' | 'name' | 'authTime' | 'acr', unknown>>;

/**
 * In: what an answer says of a member. Out: the member; what is only nice to know is left out where it is not usable.
 * Throws GatewayError `login_unavailable` when the id is not usable: it is never trimmed, folded or guessed.
 */
export function readMember(values: MemberValues, version: string | undefined): Member {
  const { email, name, authTime, acr } = values;
  return {
    sub: readSubject(values.sub),
    email: text(email),
    name: text(name),
    authTime: Number.isSafeInteger(authTime) ? (authTime as number) : undefined,
    acr: text(acr),
    version,
  };
}

function readSubject(value: unknown): string {
  const sub = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (!isSubject(sub)) throw unusable('no usable id of a member');
  return sub;
}

/**
 * In: the value that changes when a member's grants must end. Out: it, as text. Throws GatewayError `login_unavailable`
 * when it is none: taken as "no change", a backend that stopped telling would switch the ending off.
 */
export function readVersion(value: unknown): string {
  const version = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof version !== 'string' || version === '' || version.length > LONGEST_VERSION) {
    throw unusable('no usable version of a member');
  }
  return version;
}

function text(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || value.includes(LOST)) return undefined;
  const shown = value.replace(/\s+/g, ' ').trim();
  return shown === '' || !shown.isWellFormed() ? undefined : shown;
}
