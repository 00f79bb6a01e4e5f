import { basename, dirname, join } from 'node:path';
import type { UntracedProblem } from '../config/problems.ts';
import type { SourceFiles } from '../config/source-files.ts';
import { valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';

/** The content of a file that the configuration names. `file` is its path as written there. */
export interface TextFile {
  readonly file: string;
  readonly text: string;
}

/** The files that define the Account API. */
export interface AccountFiles {
  readonly schema: readonly TextFile[];
  readonly mappings: readonly TextFile[];
  /** Recorded schemas of GraphQL upstreams. `text` is undefined for a schema that has not been recorded yet. */
  readonly recorded: readonly { readonly upstream: string; readonly file: string; readonly text: string | undefined }[];
  /** The trusted documents, if configured. */
  readonly documents: TextFile | undefined;
}

/**
 * Reads the files of the `account` block, which is taken before it is validated. `schema` and `mappings` may have
 * `*` in their last segment; their files are sorted by name. `files` is undefined when the schema or the mappings cannot be read.
 */
export async function readAccountFiles(
  account: unknown,
  files: SourceFiles,
): Promise<{ files: AccountFiles | undefined; findings: readonly UntracedProblem[] }> {
  const findings: UntracedProblem[] = [];
  if (!isObject(account)) return { files: undefined, findings };

  const read = async (...path: readonly string[]): Promise<readonly TextFile[]> => {
    const pattern = valueAt(account, path);
    if (typeof pattern !== 'string' || pattern === '') return [];
    try {
      const found = await expand(pattern, files);
      if (found.length > 0)
        return await Promise.all(found.map(async (file) => ({ file, text: await files.text(file) })));
      findings.push({ path: ['account', ...path], at: 'value', message: `no file matches ${pattern}` });
    } catch (error) {
      findings.push({ path: ['account', ...path], at: 'value', message: `cannot read ${pattern}: ${reason(error)}` });
    }
    return [];
  };
  const [schema, mappings] = [await read('schema'), await read('mappings')];
  const [documents] = await read('documents', 'file');
  const recorded = await readRecorded(valueAt(account, ['upstreamSchemas']), files);
  const complete = schema.length > 0 && mappings.length > 0;
  return { files: complete ? { schema, mappings, recorded, documents } : undefined, findings };
}

/** A missing file is not a problem here, since `account pull` creates it. Code that needs it reports it at start. */
async function readRecorded(given: unknown, files: SourceFiles): Promise<AccountFiles['recorded']> {
  if (!isObject(given)) return [];
  const named = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return await Promise.all(
    named.map(async ([upstream, path]) => {
      const file = files.resolve(path);
      return { upstream, file, text: await files.text(path).catch(() => undefined) };
    }),
  );
}

/** Expands `*` in the last segment of a path. */
async function expand(given: string, files: SourceFiles): Promise<readonly string[]> {
  const last = basename(given);
  if (!last.includes('*')) return [given];
  const parts = last.split('*').map(RegExp.escape);
  const fits = new RegExp(`^${parts.join('.*')}$`);
  const names = await files.names(dirname(given));
  return names
    .filter((name) => fits.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(dirname(given), name));
}

/** Explains to the operator why a file could not be read. */
export function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    ENOTDIR: 'there is no such file',
    EISDIR: 'it is a folder, not a file',
    EACCES: 'this process may not read it',
    EPERM: 'this process may not read it',
  };
  return words[code] ?? `it cannot be read (${code || 'unknown reason'})`;
}
