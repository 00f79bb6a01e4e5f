import type { KeyCredential } from '../../config/upstream-credential.ts';
import { type Credential, fieldValue } from './credential.ts';

/**
 * One secret for everybody. That it opens only a member's own records is what the routes are held to when they are
 * loaded; so it goes with public requests too, which nobody is known for.
 */
export function serviceKey({ header, query, scheme }: KeyCredential, secret: string): Credential {
  const attempt = {
    fields: header === undefined ? {} : { [header]: fieldValue(header, scheme, secret) },
    ...(query === undefined ? {} : { query: { name: query, value: fieldValue('', scheme, secret) } }),
  };
  return { attempt: () => attempt };
}
