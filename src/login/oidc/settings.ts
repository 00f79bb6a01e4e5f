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
    emailDomains: z.array(domain).min(1).optional().meta({
      description:
        'Domains that a verified email must belong to. Exact match: school.edu does not include students.school.edu.',
    }),
    claims: z
      .record(text, z.array(z.union([z.string(), z.number(), z.boolean()])).min(1))
      .default({})
      .describe('Claims that must have one of these values. A list must contain one of them.'),
  })
  .prefault({})
  .describe('Which of the provider’s users may sign in. If omitted, all of them.');

const claims = z
  .strictObject({
    subject: text.optional().meta({
      description:
        'Claim with the member’s ID in the backend. If omitted, the member’s ID is `ID:SUB` (the provider’s `id` and the sub claim), which backends do not know.',
    }),
    ...eachDetail((_, { claim, noun }) => text.default(claim).describe(`Claim with the ${noun}.`)),
  })
  .prefault({})
  .describe('Claims of the ID token that identify the member.');

const provider = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must be at most 32 lower-case letters, digits and -')
    .describe('Part of the callback URL, /oauth/sign-in/callback/ID, and of the member’s ID. Never change it.'),
  name: text.max(80).describe('Name on its button.'),
  issuer: secureUrl.describe('Issuer, exactly as in its /.well-known/openid-configuration.'),
  clientId: text.describe('Client ID of coursegate at the provider.'),
  clientSecret: secret(
    undefined,
    'Client secret of coursegate at the provider. If omitted, coursegate is a public client.',
  ).optional(),
  scope: z
    .string()
    .regex(/^[\x21\x23-\x5B\x5D-\x7E]+( [\x21\x23-\x5B\x5D-\x7E]+)*$/, 'must be scopes separated by one space')
    .refine((given) => given.split(' ').includes('openid'), 'must include openid')
    .default('openid email profile')
    .describe('Scopes to request.'),
  claims,
  requireVerifiedEmail: z.boolean().default(false).meta({
    description: 'Whether only accounts with a verified email (email_verified) may sign in.',
  }),
  allow,
  prompt: z.enum(['login', 'consent', 'select_account']).optional().meta({
    description: 'The prompt parameter sent to the provider. Defaults to select_account if `allow` is limited.',
  }),
});

export type OidcProviderConfig = z.output<typeof provider>;

/** Login with accounts at identity providers such as Google, Microsoft or Keycloak (OpenID Connect Core 1.0). */
export const oidcLogin = z
  .strictObject({
    kind: z.literal('oidc'),
    providers: z.array(provider).min(1).meta({
      description:
        'Identity providers. The sign-in page has a button for each. With a single provider, the page is skipped.',
    }),
    timeout: duration.prefault('5s').describe('Time limit for each response of a provider.'),
    ...ownSignIn,
  })
  .superRefine(({ providers }, context) => {
    for (const [index, { id, claims }] of providers.entries()) {
      const report = (path: string[], message: string) =>
        context.addIssue({ code: 'custom', path: ['providers', index, ...path], message });
      if (providers.findIndex((other) => other.id === id) < index)
        report(['id'], 'is already the id of another provider');
      // Otherwise a backend id could be chosen so that it equals the `ID:SUB` of another member.
      if ((claims.subject === undefined) !== (providers[0]?.claims.subject === undefined)) {
        report(['claims'], 'must set `subject` for every provider or for none');
      }
    }
  });

export type OidcLoginConfig = z.output<typeof oidcLogin>;
