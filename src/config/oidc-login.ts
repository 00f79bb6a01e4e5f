import { z } from 'zod';
import { ownSignIn } from './own-sign-in.ts';
import { secretReference } from './secret-reference.ts';
import { secureUrl } from './secure-url.ts';
import { signingAlgorithms } from './signing-algorithms.ts';
import { duration } from './units.ts';

const domain = z
  .string()
  .regex(/^(?!-)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'must be a domain such as school.edu')
  .transform((given) => given.toLowerCase());

const allow = z
  .strictObject({
    emailDomains: z.array(domain).min(1).optional().meta({
      description: 'The domains that a verified email must be of, exactly: school.edu is not students.school.edu.',
    }),
    claims: z
      .record(z.string().min(1), z.array(z.union([z.string(), z.number(), z.boolean()])).min(1))
      .default({})
      .meta({ description: 'Claims that must have, or in a list must contain, one of these values.' }),
  })
  .prefault({})
  .meta({ description: 'Whom of those that the provider knows are let in. Left out: everybody.' });

const claims = z
  .strictObject({
    subject: z.string().min(1).optional().meta({
      description:
        'The claim that holds the member’s id in the backend. Left out, the member is `ID:SUB` of the provider, which no backend knows.',
    }),
    email: z.string().min(1).default('email').meta({ description: 'The claim that holds their email.' }),
    name: z.string().min(1).default('name').meta({ description: 'The claim that holds their name.' }),
  })
  .prefault({})
  .meta({ description: 'Which claims of the ID token say who the member is.' });

const provider = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must be at most 32 lower-case letters, digits and -')
    .meta({
      description: 'Part of its callback, /oauth/sign-in/callback/ID, and of the member’s id: never change it.',
    }),
  name: z.string().min(1).max(80).meta({ description: 'What members read on its button.' }),
  issuer: secureUrl.meta({
    description: 'Its issuer, as it writes it itself in /.well-known/openid-configuration.',
  }),
  clientId: z.string().min(1).meta({ description: 'Our client_id there.' }),
  clientSecret: secretReference.optional().meta({ description: 'Our secret there. Left out, we are a public client.' }),
  clientAuthentication: z.enum(['client_secret_basic', 'client_secret_post']).optional().meta({
    description: 'How the secret is shown. Left out: client_secret_basic, where the provider takes that.',
  }),
  scope: z
    .string()
    .regex(/^[\x21\x23-\x5B\x5D-\x7E]+( [\x21\x23-\x5B\x5D-\x7E]+)*$/, 'must be scopes separated by one space')
    .refine((given) => given.split(' ').includes('openid'), 'must have openid in it')
    .default('openid email profile')
    .meta({ description: 'What is asked for.' }),
  claims,
  requireVerifiedEmail: z.boolean().default(false).meta({
    description: 'Whether only accounts with a verified email (email_verified) are let in.',
  }),
  allow,
  prompt: z.enum(['login', 'consent', 'select_account']).optional().meta({
    description: 'What is always asked of the provider. Left out: select_account when `allow` lets in only some.',
  }),
  algorithms: signingAlgorithms,
});

export type OidcProviderConfig = z.output<typeof provider>;

/** Accounts at other providers: Google, Microsoft, Keycloak (OpenID Connect Core 1.0). */
export const oidcLogin = z
  .strictObject({
    kind: z.literal('oidc'),
    providers: z
      .array(provider)
      .min(1)
      .meta({ description: 'One button on our page for each; of one alone no page is shown.' }),
    timeout: duration.prefault('5s').meta({ description: 'How long any answer of a provider is waited for.' }),
    ...ownSignIn,
  })
  .superRefine(({ providers }, context) => {
    for (const [index, { id, claims }] of providers.entries()) {
      const report = (path: string[], message: string) =>
        context.addIssue({ code: 'custom', path: ['providers', index, ...path], message });
      if (providers.findIndex((other) => other.id === id) < index) report(['id'], 'must be of one provider alone');
      // Of two kinds of ids in one place, one could be written so that it reads like the other.
      if ((claims.subject === undefined) !== (providers[0]?.claims.subject === undefined)) {
        report(['claims'], 'must have `subject` with every provider, or with none');
      }
    }
  });
