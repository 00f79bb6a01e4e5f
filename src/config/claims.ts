import { z } from 'zod';
import { MEMBER_DETAILS } from '../oauth/member-details.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { pointer } from './name.ts';

/** At most this many claims, of at most this many bytes each as JSON: they are part of every token response. */
const MOST = 16;
export const LARGEST_CLAIM = 1024;

/**
 * Members of a token response or of userinfo that have a meaning of their own (RFC 6749 section 5.1, RFC 7519 section
 * 4.1, OpenID Connect Core sections 2 and 5.1).
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.values(MEMBER_DETAILS).map(({ claim }) => claim),
  ...`access_token token_type expires_in refresh_token scope id_token issued_token_type authorization_details state code
   error error_description error_uri iss sub aud exp nbf iat jti nonce auth_time acr amr azp at_hash c_hash s_hash sid cnf
   active client_id username email_verified _claim_names _claim_sources __proto__ constructor prototype`.split(/\s+/),
]);

const claimName = z
  .string()
  .regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/, 'must be at most 100 characters of ASCII, without spaces, " and \\')
  .refine((given) => !RESERVED.has(given), 'is the name of a standard claim or member of the token response');

const claim = z
  .strictObject({
    scope: z.string().refine(isScopeToken, 'must be one scope token (RFC 6749 section 3.3)'),
    value: z
      .union([z.string(), z.number(), z.boolean(), z.array(z.string())], 'must be text, a number, a boolean or a list')
      .refine((given) => Buffer.byteLength(JSON.stringify(given)) <= LARGEST_CLAIM, 'must be at most 1024 bytes')
      .optional(),
    from: pointer.optional(),
  })
  .refine(({ value, from }) => (value === undefined) !== (from === undefined), 'must have either `value` or `from`');

/** Custom claims about a member, by name. */
export const claims = z
  .record(claimName, claim)
  .refine((given) => Object.keys(given).length <= MOST, `must be at most ${MOST} claims`);

export type ClaimsConfig = z.output<typeof claims>;
