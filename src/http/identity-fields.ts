import { MEMBER_DETAILS } from '../oauth/member-details.ts';

/** The fields in which an upstream reads plainly who a request acts for. */
const PLAIN = [
  'X-Member-Id',
  ...Object.values(MEMBER_DETAILS).map(({ header }) => header),
  'X-Member-Scope',
  'X-Client-Id',
];

/**
 * Every field in which this gate tells an upstream who a request acts for. What sends, judges, removes or refuses such
 * fields, here and in gateways, is derived from this list.
 */
export const IDENTITY_FIELDS: readonly string[] = [...PLAIN, 'X-Coursegate-Assertion'];

/** Prefixes of names that only this gate may send, in lower case. */
const FAMILIES = ['x-member-', 'x-coursegate-'];

/** The same in lower case, with whole families of names: a final `*` matches anything. */
export const OWN_IDENTITY: readonly string[] = [
  'x-member',
  ...FAMILIES.map((prefix) => `${prefix}*`),
  ...IDENTITY_FIELDS.map((name) => name.toLowerCase()).filter(
    (name) => !FAMILIES.some((prefix) => name.startsWith(prefix)),
  ),
];
