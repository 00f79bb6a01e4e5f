import { type EachDetail, eachDetail } from '../../oauth/member-details.ts';
import { isSubject } from '../../oauth/subject.ts';
import type { Member } from '../connector.ts';
import { unusable } from './unusable.ts';

/** The replacement character, which decoding puts in place of bytes that are not UTF-8. */
const LOST = '\ufffd';

const LONGEST_TEXT = 320;
const LONGEST_VERSION = 1024;

/** The values found in an answer; undefined if missing or not configured. */
type MemberValues = EachDetail<unknown> &
  Readonly<Partial<Record<'sub' | 'emailVerified' | 'authTime' | 'acr' | 'version', unknown>>> &
  Pick<Member, 'claims'>;

/**
 * Creates the member from the values of an answer. Optional values are omitted if they are unusable. Throws
 * GatewayError `login_unavailable` if the id is unusable: it is never trimmed, case-folded or guessed.
 */
export function readMember(values: MemberValues): Member {
  const { sub, emailVerified, authTime, acr, version, claims } = values;
  return {
    sub: readSubject(sub),
    ...eachDetail((detail) => text(values[detail])),
    emailVerified: readFlag(emailVerified),
    authTime: Number.isSafeInteger(authTime) ? (authTime as number) : undefined,
    acr: text(acr),
    version: version === undefined ? undefined : readVersion(version),
    claims,
  };
}

/** Parses a boolean as JSON, headers and databases represent it; undefined for anything else. */
export function readFlag(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1' || value === 'true') return true;
  if (value === false || value === 0 || value === '0' || value === 'false') return false;
  return undefined;
}

/** A number is taken as its digits. Throws GatewayError `login_unavailable` if the id is unusable. */
export function readSubject(value: unknown): string {
  const sub = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (!isSubject(sub)) throw unusable('no usable id of a member');
  return sub;
}

/**
 * Returns, as text, the version that changes when a member's grants must end. Throws GatewayError `login_unavailable`
 * if it is unusable. If that counted as "no change", a backend that stopped sending the version would disable this
 * protection.
 */
export function readVersion(value: unknown): string {
  const version = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof version !== 'string' || version === '' || version.length > LONGEST_VERSION)
    throw unusable('no usable version of a member');
  return version;
}

function text(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || value.includes(LOST)) return undefined;
  const shown = value.replace(/\s+/g, ' ').trim();
  return shown === '' || !shown.isWellFormed() ? undefined : shown;
}
