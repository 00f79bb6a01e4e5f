import { readFile } from 'node:fs/promises';
import type { Finding } from './problems.ts';
import { type SecretReference, secretReference } from './schema.ts';
import type { Environment } from './setting.ts';

/** Why a secret cannot be read. The message names where it was looked for, never what was found. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * Reads a secret where the configuration says it is. In: the reference, the environment, and how a path written in the
 * configuration is resolved. Out: the secret, without the one newline that editors and `echo` leave at its end. Throws
 * SecretError when it is missing or empty; `loadConfig` turns that into a ConfigError with the place of the reference.
 */
export async function readSecret(
  reference: SecretReference,
  environment: Environment,
  resolve: (path: string) => string,
): Promise<string> {
  const found =
    'env' in reference ? (environment[reference.env] ?? missing(reference)) : await fromFile(reference, resolve);
  const secret = found.replace(/\r?\n$/, '');
  if (secret === '') throw new SecretError(`${nameOf(reference)} is empty`);
  return secret;
}

/** AES-256 and HMAC-SHA-256 keys are derived from the sealing secret, and take no less. */
const SEALING_BYTES = 32;

/**
 * Reads the secret that `secret` names. In: the reference, not yet known to fit the schema. Out: the secret (undefined
 * when none is named), or why it cannot be used: it is missing, or too short to be key material.
 */
export async function readSealingSecret(
  reference: unknown,
  environment: Environment,
  resolve: (path: string) => string,
): Promise<{ value: string | undefined; findings: readonly Finding[] }> {
  const parsed = secretReference.safeParse(reference);
  if (!parsed.success) return { value: undefined, findings: [] };
  try {
    const value = await readSecret(parsed.data, environment, resolve);
    const bytes = Buffer.byteLength(value);
    if (bytes >= SEALING_BYTES) return { value, findings: [] };
    const enough = `at least ${SEALING_BYTES} are needed (openssl rand -base64 32)`;
    throw new SecretError(`${nameOf(parsed.data)} has ${bytes} bytes; ${enough}`);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    return { value: undefined, findings: [{ path: ['secret'], at: 'value', message: error.message }] };
  }
}

async function fromFile(reference: { readonly file: string }, resolve: (path: string) => string): Promise<string> {
  try {
    return await readFile(resolve(reference.file), 'utf8');
  } catch {
    return missing(reference);
  }
}

function missing(reference: SecretReference): never {
  throw new SecretError(`${nameOf(reference)} ${'env' in reference ? 'is not set' : 'cannot be read'}`);
}

function nameOf(reference: SecretReference): string {
  return 'env' in reference ? `environment variable ${reference.env}` : `file ${reference.file}`;
}
