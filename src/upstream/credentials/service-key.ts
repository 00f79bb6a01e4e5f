import { type Credential, fieldValue } from './credential.ts';
import type { KeyCredential } from './settings.ts';

/**
 * One secret shared by all members. Configuration loading checks that such routes only give access to a member's own
 * records. The key is therefore also sent with public requests, which have no member.
 */
export function serviceKey({ header, query, scheme }: KeyCredential, secret: string): Credential {
  const attempt = {
    fields: header === undefined ? {} : { [header]: fieldValue(header, scheme, secret) },
    ...(query === undefined ? {} : { query: { name: query, value: fieldValue('', scheme, secret) } }),
  };
  return { attempt: () => attempt };
}
