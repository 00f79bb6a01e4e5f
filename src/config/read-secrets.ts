import type { z } from 'zod';
import { reason } from '../account/settings-files.ts';
import { isObject } from '../http/json-object.ts';
import type { UntracedProblem } from './problems.ts';
import { PEM, SECRETS, type SecretReference, secret } from './secret.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { formatPath, type Path, type Tree } from './tree.ts';

/** A secret cannot be read or used. The message names the variable or file, never its value. */
class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Values by the path of the setting that names them, such as `login.secret`. */
export type SecretValues = ReadonlyMap<string, string>;

/** The secret of a setting that the schema requires. Throws an error that names the setting, not its value. */
export function requiredSecret(secrets: SecretValues, path: string): string {
  const value = secrets.get(path);
  if (value === undefined) throw new Error(`The secret of ${path} was not read.`);
  return value;
}

/**
 * Reads every secret that the settings refer to, in the places that the schema marks. Takes the settings before they are
 * validated: what is no reference is left to the schema. A secret that cannot be used is a finding.
 */
export async function readSecrets(
  schema: z.core.$ZodType,
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<{ readonly values: SecretValues; readonly findings: readonly UntracedProblem[] }> {
  const values = new Map<string, string>();
  const findings: UntracedProblem[] = [];
  const read = async ({ path, value, mark }: Marked) => {
    try {
      const text =
        'pem' in mark ? await readPem(value, PEM[mark.pem], files) : await readNamed(value, mark, environment, files);
      if (text !== undefined) values.set(formatPath(path), text);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      findings.push({ path, at: 'value', message: error.message });
    }
  };
  for (const one of marked(schema, tree, [])) await read(one);
  return { values, findings };
}

interface Marked {
  readonly path: Path;
  readonly value: unknown;
  readonly mark: NonNullable<ReturnType<typeof SECRETS.get>>;
}

/** The settings that the schema marks as secrets, as far as they are there. */
function* marked(schema: z.core.$ZodType, value: unknown, path: Path): Generator<Marked> {
  const mark = SECRETS.get(schema);
  if (value === undefined) return;
  if (mark !== undefined) yield { path, value, mark };
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
      yield* marked(def.innerType, value, path);
      break;
    case 'pipe':
      yield* marked(def.in, value, path);
      break;
    case 'union':
      for (const option of def.options) if (takes(option, value)) yield* marked(option, value, path);
      break;
    case 'array':
      for (const [at, one] of (Array.isArray(value) ? value : []).entries()) {
        yield* marked(def.element, one, [...path, at]);
      }
      break;
    case 'object':
    case 'record':
      for (const [key, one] of Object.entries(isObject(value) ? value : {})) {
        const child =
          def.type === 'record' ? def.valueType : Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
        if (child !== undefined) yield* marked(child, one, [...path, key]);
      }
  }
}

/** Whether a variant is the one of the value's `kind`. Variants without a `kind` take every value. */
function takes(option: z.core.$ZodType, value: unknown): boolean {
  const { def } = (option as z.core.$ZodTypes)._zod;
  const kind = def.type === 'object' ? def.shape.kind : undefined;
  return kind === undefined || (isObject(value) && kind._zod.values?.has(value.kind as string) === true);
}

/** Without the one newline that editors and `echo` leave at the end. */
async function readNamed(
  given: unknown,
  { problemOf }: { readonly problemOf: (value: string) => string | undefined },
  environment: Environment,
  files: SourceFiles,
): Promise<string | undefined> {
  const { data: reference } = ANY.safeParse(given);
  if (reference === undefined) return undefined;
  const named = 'env' in reference ? `environment variable ${reference.env}` : `file ${reference.file}`;
  const found = await textOf(reference, environment, files);
  if (found === undefined) throw new SecretError(`${named} ${'env' in reference ? 'is not set' : 'cannot be read'}`);
  const value = found.replace(/\r?\n$/, '');
  const problem = value === '' ? 'is empty' : problemOf(value);
  if (problem !== undefined) throw new SecretError(`${named} ${problem}`);
  return value;
}

const ANY = secret();

async function textOf(
  reference: SecretReference,
  environment: Environment,
  files: SourceFiles,
): Promise<string | undefined> {
  return 'env' in reference ? environment[reference.env] : await files.text(reference.file).catch(() => undefined);
}

async function readPem(file: unknown, label: RegExp, files: SourceFiles): Promise<string | undefined> {
  if (typeof file !== 'string' || file === '') return undefined;
  const text = await files.text(file).catch((error: unknown) => {
    throw new SecretError(`${file} cannot be read: ${reason(error)}`);
  });
  if (!label.test(text)) throw new SecretError(`${file} has no PEM block of the required type`);
  return text;
}
