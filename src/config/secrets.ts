import type { Finding } from './problems.ts';
import { type SecretReference, secretReference } from './secret-reference.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** Why a secret cannot be read. The message names where it was looked for, never what was found. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * Reads a secret where the configuration says it is. In: the reference, the environment, and the way to
 * its file. Out: the secret, without the one newline that editors and `echo` leave at its end. Throws
 * SecretError when it is missing or empty; `loadConfig` turns that into a ConfigError with the place of the reference.
 */
export async function readSecret(
  reference: SecretReference,
  environment: Environment,
  files: SourceFiles,
): Promise<string> {
  const found =
    'env' in reference ? (environment[reference.env] ?? missing(reference)) : await fromFile(reference, files);
  const secret = found.replace(/\r?\n$/, '');
  if (secret === '') throw new SecretError(`${nameOf(reference)} is empty`);
  return secret;
}

/** AES-256 and HMAC-SHA-256 keys are derived from the sealing secret, and take no less. */
const SEALING_BYTES = 32;

export interface NamedSecret {
  /** Undefined when none is named. */
  readonly value: string | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Reads the secret that `secret` names. In: the reference, not yet known to fit the schema. Out: the secret, or why it
 * cannot be used: it is missing, or too short to be key material.
 */
export function readSealingSecret(
  reference: unknown,
  path: Finding['path'],
  environment: Environment,
  files: SourceFiles,
): Promise<NamedSecret> {
  return readNamed(reference, path, environment, files, (value) => {
    const bytes = Buffer.byteLength(value);
    const enough = `at least ${SEALING_BYTES} are needed (openssl rand -base64 32)`;
    return bytes >= SEALING_BYTES ? undefined : `has ${bytes} bytes; ${enough}`;
  });
}

const INITIAL_ACCESS_TOKEN = ['clients', 'registration', 'initialAccessToken'];

/** Reads the token that apps must bring to register, in the same way: it must be one that a Bearer header can carry. */
export function readInitialAccessToken(tree: Tree, environment: Environment, files: SourceFiles): Promise<NamedSecret> {
  return readNamed(valueAt(tree, INITIAL_ACCESS_TOKEN), INITIAL_ACCESS_TOKEN, environment, files, (value) =>
    /^[A-Za-z0-9._~+/-]{16,}=*$/.test(value)
      ? undefined
      : 'must be 16 or more letters, digits or -._~+/ (openssl rand -base64 32)',
  );
}

const RECHECK_KEY = ['login', 'recheck', 'key', 'secret'];

/** Reads the key that shows a backend that the gate asks: it must be one that a header field can carry. */
export function readRecheckKey(tree: Tree, environment: Environment, files: SourceFiles): Promise<NamedSecret> {
  return readNamed(valueAt(tree, RECHECK_KEY), RECHECK_KEY, environment, files, (value) =>
    /^[\x21-\x7E]{16,4096}$/.test(value)
      ? undefined
      : 'must be 16 or more visible ASCII characters, without spaces (openssl rand -base64 32)',
  );
}

export interface NamedSecrets {
  /** By the name of the resource server. */
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** Reads the secrets of the resource servers that may introspect every token (RFC 7662 §2.1). */
export async function readResourceServerSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<NamedSecrets> {
  const servers = valueAt(tree, ['clients', 'resourceServers']);
  const read = Object.keys(isTree(servers) ? servers : {}).map(async (name) => {
    const path = ['clients', 'resourceServers', name, 'secret'];
    const tooShort = `must have ${SEALING_BYTES} characters or more (openssl rand -base64 32)`;
    const problemOf = (value: string) => (value.length >= SEALING_BYTES ? undefined : tooShort);
    return [name, await readNamed(valueAt(tree, path), path, environment, files, problemOf)] as const;
  });
  const named = await Promise.all(read);
  return {
    values: new Map(named.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]))),
    findings: named.flatMap(([, { findings }]) => findings),
  };
}

/** What mappings of the Account API know as $config: what is written in the file, and what is read as a secret. */
export interface AccountConfig {
  readonly open: Readonly<Record<string, string | number | boolean>>;
  readonly secret: Readonly<Record<string, string>>;
}

/** Reads `account.config`. In: the settings, not yet known to fit the schema; values of a wrong type are passed over. */
export async function readAccountConfig(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<{ readonly value: AccountConfig; readonly findings: readonly Finding[] }> {
  const given = valueAt(tree, ['account', 'config']);
  const open: Record<string, string | number | boolean> = {};
  const secret: Record<string, string> = {};
  const findings: Finding[] = [];
  for (const [name, value] of Object.entries(isTree(given) ? given : {})) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') open[name] = value;
    else {
      const read = await readNamed(value, ['account', 'config', name], environment, files, () => undefined);
      if (read.value !== undefined) secret[name] = read.value;
      findings.push(...read.findings);
    }
  }
  return { value: { open, secret }, findings };
}

/** Reads the secret that `reference` names, if it names one. In: what is wrong with a value, never showing it. */
export async function readNamed(
  reference: unknown,
  path: Finding['path'],
  environment: Environment,
  files: SourceFiles,
  problemOf: (value: string) => string | undefined,
): Promise<NamedSecret> {
  const parsed = secretReference.safeParse(reference);
  if (!parsed.success) return { value: undefined, findings: [] };
  try {
    const value = await readSecret(parsed.data, environment, files);
    const problem = problemOf(value);
    if (problem === undefined) return { value, findings: [] };
    throw new SecretError(`${nameOf(parsed.data)} ${problem}`);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    return { value: undefined, findings: [{ path, at: 'value', message: error.message }] };
  }
}

/** Every secret that is named in a part of the settings, wherever in it, and where. */
export function* secretReferences(
  value: unknown,
  path: Path,
): Generator<{ readonly path: Path; readonly reference: unknown }> {
  if (secretReference.safeParse(value).success) yield { path, reference: value };
  else if (Array.isArray(value)) for (const [at, one] of value.entries()) yield* secretReferences(one, [...path, at]);
  else if (isTree(value))
    for (const [name, one] of Object.entries(value)) yield* secretReferences(one, [...path, name]);
}

async function fromFile(reference: { readonly file: string }, files: SourceFiles): Promise<string> {
  try {
    return await files.text(reference.file);
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
