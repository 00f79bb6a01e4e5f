/** The fields in which an upstream reads plainly who a request acts for. */
export const PLAIN_IDENTITY_FIELDS = [
  'X-Member-Id',
  'X-Member-Email',
  'X-Member-Name',
  'X-Member-Scope',
  'X-Client-Id',
] as const;

/**
 * Every field in which this gate tells an upstream who a request acts for. What sends, judges, removes or refuses such
 * fields, here and in gateways, is derived from this list.
 */
export const IDENTITY_FIELDS = [...PLAIN_IDENTITY_FIELDS, 'X-Coursegate-Assertion'] as const;

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
