// Marks the secrets of the schema: where one is, and what its value must be like. read-secrets.ts reads all of them.

import { z } from 'zod';
import { text } from './name.ts';

/** Says what is wrong with a value, without showing it; undefined when it can be used. */
type ProblemOf = (value: string) => string | undefined;

/** A reference to a secret; or, with `pem`, the name of a file that must have a block with this label. */
type Mark = { readonly problemOf: ProblemOf } | { readonly pem: keyof typeof PEM };

export const SECRETS = z.registry<Mark>();

const reference = z.union(
  [
    z.strictObject({ env: text.describe('Environment variable that holds the secret.') }),
    z.strictObject({
      file: text.describe(
        'File that holds nothing but the secret. It is read again on reload. One newline at its end is ignored.',
      ),
    }),
  ],
  'must be { env: NAME } or { file: PATH }: secrets are never written in this file',
);

/** Refers to a secret in the environment or in a separate file. Secrets are never written in the configuration. */
export type SecretReference = z.output<typeof reference>;

export function secret(problemOf: ProblemOf = () => undefined): typeof reference {
  return reference
    .describe('Where to read the secret: { env: NAME } or { file: PATH }.')
    .register(SECRETS, { problemOf });
}

/** Labels that a PEM file of each sort must contain. */
export const PEM = {
  authority: /-----BEGIN (TRUSTED )?CERTIFICATE-----/,
  certificate: /-----BEGIN CERTIFICATE-----/,
  key: /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
} as const;

export function pemFile(pem: keyof typeof PEM): z.ZodString {
  return text.describe('A PEM file.').register(SECRETS, { pem });
}

const RANDOM = '(openssl rand -base64 32)';

/** For keys that sign with HMAC-SHA-256, and secrets that services send. */
export const LONG_ENOUGH: ProblemOf = (value) =>
  value.length >= 32 ? undefined : `must have at least 32 characters ${RANDOM}`;

/** AES-256 and HMAC-SHA-256 keys are derived from the sealing secret, so it needs as many bytes as they have. */
export const KEY_MATERIAL: ProblemOf = (value) => {
  const bytes = Buffer.byteLength(value);
  return bytes >= 32 ? undefined : `has ${bytes} bytes but at least 32 are needed ${RANDOM}`;
};

/** For values in a Bearer header (RFC 6750 section 2.1). */
export const BEARER: ProblemOf = (value) =>
  /^[A-Za-z0-9._~+/-]{16,}=*$/.test(value) ? undefined : `must have at least 16 letters, digits or -._~+/ ${RANDOM}`;

/** For values in a header field. */
export const HEADER_VALUE: ProblemOf = (value) =>
  /^[\x21-\x7E]{16,4096}$/.test(value)
    ? undefined
    : `must have at least 16 visible ASCII characters, without spaces ${RANDOM}`;

/** For values that a backend has chosen. */
export const BACKEND_VALUE: ProblemOf = (value) =>
  /^[\x21-\x7E]{8,4096}$/.test(value) ? undefined : 'must have at least 8 visible ASCII characters, without spaces';
