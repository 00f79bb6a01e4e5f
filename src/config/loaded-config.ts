import type { AccountFiles } from '../account/settings-files.ts';
import type { DirectoryMember } from '../login/directory/settings-members.ts';
import type { CardTemplates } from '../mcp/settings-cards.ts';
import type { Skill } from '../mcp/settings-skills.ts';
import type { Logo } from './logo.ts';
import type { PageLanguage } from './pages.ts';
import type { ConfigError, Place, Problem, UntracedProblem } from './problems.ts';
import type { Config } from './schema.ts';
import type { secretValues } from './secret-values.ts';
import type { SourceFiles } from './source-files.ts';
import type { Path, Tree } from './tree.ts';

/** Secrets are kept out of `config`, which may be printed. */
export interface LoadedConfig extends ReturnType<typeof secretValues> {
  readonly config: Config;
  /** The profile's name, only for the line that says the gate is ready. */
  readonly profile: string;
  /** The operator's file, as an absolute path. */
  readonly file: string;
  /** The name of the school, if it is one of many. */
  readonly school?: string;
  /** The issuer of the assertions for backends, if it is not the origin. */
  readonly asserts?: string;
  /** The schools that a main file lists; undefined for the configuration of one school. */
  readonly schools: ListedSchools | undefined;
  /** The members in the file of a `directory` login; undefined for another login. */
  readonly members: readonly DirectoryMember[] | undefined;
  /** The file of `pages.logo`; undefined: there is no logo. */
  readonly logo: Logo | undefined;
  /** The languages of the pages, with the catalogues that `pages.languages` names. */
  readonly languages: readonly PageLanguage[];
  /** The documents of `upstreams.*.openapi.file`, by upstream. */
  readonly upstreamDocuments: ReadonlyMap<string, Tree>;
  /** The files of the Account API; undefined when it is not served. */
  readonly accountFiles: AccountFiles | undefined;
  /** The templates that tools name in `card`. */
  readonly cards: CardTemplates;
  /** The skills in the folder that `mcp.skills` names. */
  readonly skills: readonly Skill[];
  /** Every file that was read for this configuration. */
  readonly sources: SourceFiles;
  /** Settings that are allowed but most likely unintended. */
  readonly warnings: readonly Problem[];
  /** The merged settings of all layers as written, with the place where each was made. */
  readonly written: { readonly tree: Tree; readonly place: (path: Path) => Place };
  /**
   * Loads the configuration as it would be with another text of the operator's file.
   * @throws {ConfigError} with every mistake at once
   */
  readonly loadText: (text: string) => Promise<LoadedConfig>;
  /** Turns mistakes that only show while the gate is being built into the same error as mistakes in the files. */
  readonly mistaken: (findings: readonly UntracedProblem[]) => ConfigError;
}

interface ListedSchools {
  /** Their files by their names, as absolute paths. */
  readonly files: ReadonlyMap<string, string>;
  /**
   * Loads the configuration of one of them.
   * @throws {ConfigError} with every mistake at once
   */
  readonly load: (name: string, sources?: SourceFiles) => Promise<LoadedConfig>;
}
