import type { Finding } from './problems.ts';
import { type SecretReference, secretReference } from './secret-reference.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** A secret cannot be read. The message names the variable or file, never its value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * Reads the secret a reference points to, without the one newline that editors and `echo` leave at its end.
 *
 * @throws {SecretError} when it is missing or empty
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

/** AES-256 and HMAC-SHA-256 keys are derived from the sealing secret, so it needs as many bytes as they have. */
const SEALING_BYTES = 32;

export interface NamedSecret {
  /** Undefined when the setting is absent or the secret cannot be used. */
  readonly value: string | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Reads `secret`, or one of `furtherSecrets`. Takes the reference before it is validated. A secret that is missing, or
 * too short to be key material, is a finding.
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
    return bytes >= SEALING_BYTES ? undefined : `has ${bytes} bytes but ${enough}`;
  });
}

const INITIAL_ACCESS_TOKEN = ['clients', 'registration', 'initialAccessToken'];

/** Reads the token that apps must present to register. It must be valid in a Bearer header (RFC 6750 section 2.1). */
export function readInitialAccessToken(tree: Tree, environment: Environment, files: SourceFiles): Promise<NamedSecret> {
  return readNamed(valueAt(tree, INITIAL_ACCESS_TOKEN), INITIAL_ACCESS_TOKEN, environment, files, (value) =>
    /^[A-Za-z0-9._~+/-]{16,}=*$/.test(value)
      ? undefined
      : 'must have at least 16 letters, digits or -._~+/ (openssl rand -base64 32)',
  );
}

const RECHECK_KEY = ['login', 'recheck', 'key', 'secret'];

/** Reads the key that authenticates the gate to the backend at a recheck. It must be valid in a header field. */
export function readRecheckKey(tree: Tree, environment: Environment, files: SourceFiles): Promise<NamedSecret> {
  return readNamed(valueAt(tree, RECHECK_KEY), RECHECK_KEY, environment, files, (value) =>
    /^[\x21-\x7E]{16,4096}$/.test(value)
      ? undefined
      : 'must have at least 16 visible ASCII characters, without spaces (openssl rand -base64 32)',
  );
}

export interface NamedSecrets {
  /** Keyed by the name of the resource server, or by the path of the reference. */
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** Reads the secrets of the resource servers that may introspect every token (RFC 7662 section 2.1). */
export async function readResourceServerSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<NamedSecrets> {
  const servers = valueAt(tree, ['clients', 'resourceServers']);
  const read = Object.keys(isTree(servers) ? servers : {}).map(async (name) => {
    const path = ['clients', 'resourceServers', name, 'secret'];
    const tooShort = `must have at least ${SEALING_BYTES} characters (openssl rand -base64 32)`;
    const problemOf = (value: string) => (value.length >= SEALING_BYTES ? undefined : tooShort);
    return [name, await readNamed(valueAt(tree, path), path, environment, files, problemOf)] as const;
  });
  const named = await Promise.all(read);
  return {
    values: new Map(named.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]))),
    findings: named.flatMap(([, { findings }]) => findings),
  };
}

/** The values that mappings of the Account API can use as $config: those written in the file, and secrets. */
export interface AccountConfig {
  readonly open: Readonly<Record<string, string | number | boolean>>;
  readonly secret: Readonly<Record<string, string>>;
}

/** Reads `account.config`. Takes the settings before they are validated; the schema reports values of a wrong type. */
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

/** Reads the secret that `reference` names, if any. `problemOf` says what is wrong with a value without showing it. */
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

/** Every secret reference in a part of the settings, at any depth, with its path. */
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
