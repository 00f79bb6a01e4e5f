import { z } from 'zod';
import { isForbiddenScheme } from '../oauth/forbidden-scheme.ts';
import { UNUSED_APP_LIFETIME } from './constants.ts';
import { name, positive } from './name.ts';
import { BEARER, LONG_ENOUGH, secret } from './secret.ts';

/** Well-known apps that use a scheme without a dot, against the advice of RFC 8252 section 7.1. */
const PRIVATE_USE_SCHEMES = [
  'cursor',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'windsurf',
  'zed',
  'jetbrains',
  'claude',
  'raycast',
  'kiro',
  'goose',
  'warp',
  'lmstudio',
];

const domain = z
  .string()
  .regex(
    /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    'must be a domain in lower case, such as claude.ai, or *.example.com for its subdomains',
  );

const domains = (which: string) => ({
  allow: z.array(domain).default([]).describe(`${which}. Empty allows every domain.`),
  deny: z.array(domain).default([]).describe('Domains that are refused, even if `allow` lists them.'),
});

const scheme = z
  .string()
  .regex(/^[a-z][a-z0-9+-]*$/, 'must be a URI scheme in lower case, such as cursor')
  .refine(
    (text) => !isForbiddenScheme(text) && text !== 'http' && text !== 'https',
    'must not be a scheme that browsers or the operating system handle',
  );

const redirects = z.strictObject({
  schemes: z.array(scheme).default(PRIVATE_USE_SCHEMES).meta({
    description:
      'Private-use schemes without a dot that redirect URIs may use. Schemes with a dot (com.example.app) need no entry.',
  }),
  ...domains('Domains that https redirect URIs are limited to'),
});

const registration = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether there is a registration endpoint.'),
    initialAccessToken: secret(
      BEARER,
      'Token that apps must present to register (RFC 7591 section 3). If omitted, anyone can register an app.',
    ).optional(),
    perAddressPerMinute: positive.default(120).meta({
      description:
        'Registrations accepted from one client address per minute. Behind a proxy, set `listen.trustedProxies`.',
    }),
    perDay: positive.default(100_000).describe('Registrations accepted from all addresses together per day.'),
  })
  .transform((given) => ({ ...given, unusedLifetime: UNUSED_APP_LIFETIME }));

/** Which apps may ask members for access. */
export const clients = z.strictObject({
  resourceServers: z
    .record(name, z.strictObject({ secret: secret(LONG_ENOUGH) }))
    .default({})
    .describe(
      'Services that may introspect every token: their client_id and secret. They authenticate with client_secret_post.',
    ),
  redirects: redirects.prefault({}).meta({
    description:
      'Which redirect URIs apps may use, both registered apps and those with a client ID metadata document. Changes also apply to apps that are already registered.',
  }),
  registration: registration.prefault({}).describe('Dynamic client registration (RFC 7591).'),
  documents: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether such apps are accepted. If not, they must register.'),
      ...domains('Domains of client IDs that are accepted'),
    })
    .prefault({})
    .describe('Apps whose client_id is the https URL of their client ID metadata document.'),
});
