import { OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { FAMILY_MEMBERS, ORIGIN_FIELDS, TRUSTED_IDENTITY } from '../../../http/trusted-headers.ts';

/**
 * The fields of a client that name an identity, an origin or a method, in lower case, for gateways that can only remove
 * fields by name, and do so before they ask. `*` matches anything. Left out are Authorization, Cookie and DPoP,
 * coursegate's own, and X-Forwarded-* that gateways set themselves. The gate refuses a request with any other field that
 * it would take for one of them.
 */
export const FORGED_FIELDS: readonly string[] = [
  ...[...TRUSTED_IDENTITY, ...ORIGIN_FIELDS, '*-jwt-assertion'].filter(
    (name) => name !== 'dpop' && !/^x-forwarded-/.test(name) && !OWN_IDENTITY.includes(name),
  ),
  ...FAMILY_MEMBERS.filter((name) => name.startsWith('x-forwarded-')),
];

/** A name in lower case, in every spelling that a CGI backend takes for it. */
export function spellings(name: string): readonly string[] {
  const [first = '', ...parts] = name.split('-');
  return parts.reduce<readonly string[]>(
    (begun, part) => begun.flatMap((one) => ['-', '_', '.', '~'].map((by) => one + by + part)),
    [first],
  );
}
