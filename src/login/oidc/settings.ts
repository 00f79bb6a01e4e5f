import { z } from 'zod';
import { text } from '../../config/name.ts';
import { secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { secureUrl } from '../../config/urls.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import { ownSignIn } from '../settings.ts';

const domain = z
  .string()
  .regex(/^(?!-)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'must be a domain such as school.edu')
  .transform((given) => given.toLowerCase());

const allow = z
  .strictObject({
    emailDomains: z.array(domain).min(1).optional(),
    claims: z.record(text, z.array(z.union([z.string(), z.number(), z.boolean()])).min(1)).default({}),
  })
  .prefault({});

const claims = z
  .strictObject({
    subject: text.optional(),
    ...eachDetail((_, { claim, noun }) => text.default(claim).describe(`Claim with the ${noun}.`)),
  })
  .prefault({});

const provider = z.strictObject({
  id: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must be at most 32 lower-case letters, digits and -'),
  name: text.max(80),
  issuer: secureUrl,
  clientId: text,
  clientSecret: secret(undefined).optional(),
  scope: z
    .string()
    .regex(/^[\x21\x23-\x5B\x5D-\x7E]+( [\x21\x23-\x5B\x5D-\x7E]+)*$/, 'must be scopes separated by one space')
    .refine((given) => given.split(' ').includes('openid'), 'must include openid')
    .default('openid email profile'),
  claims,
  requireVerifiedEmail: z.boolean().default(false),
  allow,
  prompt: z.enum(['login', 'consent', 'select_account']).optional(),
});

export type OidcProviderConfig = z.output<typeof provider>;

/** Login with accounts at identity providers such as Google, Microsoft or Keycloak (OpenID Connect Core 1.0). */
export const oidcLogin = z
  .strictObject({
    kind: z.literal('oidc'),
    providers: z.array(provider).min(1),
    timeout: duration.prefault('5s'),
    ...ownSignIn,
  })
  .superRefine(({ providers }, context) => {
    for (const [index, { id, claims }] of providers.entries()) {
      const report = (path: string[], message: string) =>
        context.addIssue({ code: 'custom', path: ['providers', index, ...path], message });
      if (providers.findIndex((other) => other.id === id) < index)
        report(['id'], 'is already the id of another provider');
      // Otherwise a backend id could be chosen so that it equals the `ID:SUB` of another member.
      if ((claims.subject === undefined) !== (providers[0]?.claims.subject === undefined))
        report(['claims'], 'must set `subject` for every provider or for none');
    }
  });

export type OidcLoginConfig = z.output<typeof oidcLogin>;
