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

const domains = {
  allow: z.array(domain).default([]),
  deny: z.array(domain).default([]),
};

const scheme = z
  .string()
  .regex(/^[a-z][a-z0-9+-]*$/, 'must be a URI scheme in lower case, such as cursor')
  .refine(
    (text) => !isForbiddenScheme(text) && text !== 'http' && text !== 'https',
    'must not be a scheme that browsers or the operating system handle',
  );

const redirects = z.strictObject({
  schemes: z.array(scheme).default(PRIVATE_USE_SCHEMES),
  ...domains,
});

const registration = z
  .strictObject({
    enabled: z.boolean().default(true),
    initialAccessToken: secret(BEARER).optional(),
    perAddressPerMinute: positive.default(120),
    perDay: positive.default(100_000),
  })
  .transform((given) => ({ ...given, unusedLifetime: UNUSED_APP_LIFETIME }));

/** Which apps may ask members for access. */
export const clients = z.strictObject({
  resourceServers: z.record(name, z.strictObject({ secret: secret(LONG_ENOUGH) })).default({}),
  redirects: redirects.prefault({}),
  registration: registration.prefault({}),
  documents: z
    .strictObject({
      enabled: z.boolean().default(true),
      ...domains,
    })
    .prefault({}),
});
