import { z } from 'zod';
import { text } from './name.ts';
import { secureUrl } from './urls.ts';

/** Settings for a signed token (JWT, RFC 7519) that says who is signed in. */
export const signedToken = {
  jwks: secureUrl.describe('URL of the keys that sign it (JWK Set, RFC 7517).'),
  issuer: text.describe('Required `iss` of the token.'),
  audience: text.describe(
    'Required `aud` of the token, possibly among others. Use the one for this application, not one that other applications accept, too.',
  ),
  claims: z
    .strictObject({
      subject: text.default('sub').describe('Claim with the ID.'),
      email: text.default('email').describe('Claim with the email.'),
      name: text.default('name').describe('Claim with the name.'),
    })
    .prefault({})
    .describe('Claims with the member’s ID in the backend, email and name.'),
};

export type SignedTokenConfig = z.output<z.ZodObject<typeof signedToken>>;
