import { databaseUrlProblem } from './database-login.ts';
import type { Finding } from './problems.ts';
import { readNamed, secretReferences } from './secrets.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { formatPath, type Tree } from './tree.ts';

/** Length of the secret shared with a backend for signing: that of an HMAC-SHA-256 key. */
const SIGNING_CHARACTERS = 32;

export interface LoginSecrets {
  /** Keyed by the path of the reference, such as `login.secret`. */
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** Reads every secret that `login` refers to, at any depth. Takes the settings before they are validated. */
export async function readLoginSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<LoginSecrets> {
  const places = [...secretReferences(tree.login, ['login'])];
  const named = await Promise.all(
    places.map(async ({ path, reference }) => {
      const place = formatPath(path);
      const tooShort = `must have at least ${SIGNING_CHARACTERS} characters (openssl rand -base64 32)`;
      const problemOf = (value: string) =>
        place === 'login.url'
          ? databaseUrlProblem(value)
          : place === 'login.secret' && value.length < SIGNING_CHARACTERS
            ? tooShort
            : undefined;
      return [place, await readNamed(reference, path, environment, files, problemOf)] as const;
    }),
  );
  return {
    values: new Map(named.flatMap(([place, { value }]) => (value === undefined ? [] : [[place, value] as const]))),
    findings: named.flatMap(([, { findings }]) => findings),
  };
}
