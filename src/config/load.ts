/**
 * Loads the configuration: merges its layers, validates them against the schema, reads the files and secrets they name,
 * and checks across settings. All mistakes are reported at once, each with its file, line and column.
 */
import { dirname, resolve as resolvePath } from 'node:path';
import { readAccountFiles } from '../account/settings-files.ts';
import { checkProfileAccount, withoutUnaskedAccount } from '../account/settings-profile.ts';
import { checkApprovals } from '../approvals/settings-checks.ts';
import { checkDecisions } from '../decisions/settings-checks.ts';
import { isObject } from '../http/json-object.ts';
import { readMembersFile } from '../login/directory/settings-members.ts';
import { checkLogin, identityFields } from '../login/kinds.ts';
import { checkLoginSite } from '../login/settings-checks.ts';
import { readCards } from '../mcp/settings-cards.ts';
import { checkTools } from '../mcp/settings-checks.ts';
import { readSkills } from '../mcp/settings-skills.ts';
import { checkEnforcement } from '../operations/observe/settings.ts';
import { checkRoles } from '../roles/settings-checks.ts';
import { checkRedis } from '../storage/redis/settings.ts';
import { checkCredentials } from '../upstream/credentials/settings-checks.ts';
import { readUpstreamDocuments } from '../upstream/settings-documents.ts';
import { readCatalogues } from './catalogues.ts';
import { readIssues } from './issues.ts';
import { type Layers, mergeLayers, placeInLayers } from './layers.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { readLogo } from './logo.ts';
import { checkLoops } from './loop-checks.ts';
import { checkOwnRecords } from './own-record-checks.ts';
import { checkPagesOrigin } from './pages-origin-checks.ts';
import { checkPlaceholders } from './placeholders.ts';
import { ConfigError, type Problem, problemAt, type UntracedProblem } from './problems.ts';
import { readLayers } from './read-layers.ts';
import { readSecrets } from './read-secrets.ts';
import { checkReferences } from './reference-checks.ts';
import { checkRoutes } from './route-checks.ts';
import { checkRouteOrder } from './route-order.ts';
import { type Config, configSchema } from './schema.ts';
import { completed, isAbout, misplacedKeys, roleOf, schoolFiles, withProcess } from './schools.ts';
import { checkCertificates, secretValues } from './secret-values.ts';
import type { Environment } from './setting.ts';
import { type KeptContents, type SourceFiles, sourceFiles, withText } from './source-files.ts';
import { formatPath, merge, type Path, type Tree } from './tree.ts';
import { configWarnings } from './warnings.ts';

export type { LoadedConfig };
export { ConfigError };

export interface LoadOptions {
  readonly file: string;
  readonly environment: Environment;
  /** Settings made by code, which override everything else: the demo's ports. */
  readonly overrides?: Tree;
  /** Replaces constants of the parsed settings (constants.ts), in seconds and bytes: for tests. */
  readonly constants?: Tree | undefined;
  /** The reader to use, for callers that need to know which files were read even when loading fails. */
  readonly sources?: SourceFiles;
  /** For the file of a school: the main file, which lists it. */
  readonly main?: LoadedConfig | undefined;
}

/** Whether operators can open the console: they sign in with what authenticates commands. */
export function hasConsole({ admin }: LoadedConfig): boolean {
  return admin.hmac.length > 0 || admin.mtls !== undefined;
}

/** Checks across settings. They take the merged settings before they are validated. */
const CHECKS = [
  checkReferences,
  checkRedis,
  checkLogin,
  checkLoginSite,
  checkPagesOrigin,
  checkRoutes,
  checkOwnRecords,
  checkRouteOrder,
  checkLoops,
  checkDecisions,
  checkEnforcement,
  checkCredentials,
  checkTools,
  checkRoles,
  checkApprovals,
  checkPlaceholders,
] as const;

/**
 * Loads the configuration from its layers, highest precedence first: overrides, environment, the operator's file, the
 * tools file, the profile, and the bundled scope catalogue. Paths in the result are absolute.
 *
 * @throws {ConfigError} with every mistake at once
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { file, environment, constants = {}, sources: files = sourceFilesOf(file), main } = options;
  // What the environment sets, it sets for the process.
  const { layers, profile, ...read } = await readLayers(
    main === undefined ? options : { ...options, environment: {} },
    files,
  );
  const written = mergeLayers(layers);
  const role = roleOf(written, main);
  const merged = completed(written, role);
  const tree = withoutUnaskedAccount(merged, layers);
  // Compiled code would pay off only if there were many configurations to parse.
  const parsed = configSchema.safeParse(tree, { jitless: true });
  const secrets = await readSecrets(configSchema, tree, environment, files);
  const named = await readNamedFiles(tree, files);
  const { schools: listed, ...unlisted } = await schoolFiles(tree, files);
  const findings = [
    ...(parsed.success ? [] : readIssues(parsed.error.issues, tree)),
    ...misplacedKeys(layers.file.tree, role),
    ...unlisted.findings,
    ...CHECKS.flatMap((check) => check(tree)),
    ...read.findings,
    ...checkProfileAccount(merged, layers, profile),
    ...secrets.findings,
    ...checkCertificates(secrets.values),
    ...named.findings,
  ];
  const located = (found: readonly UntracedProblem[]) => sorted(locate(found, layers), file);
  const problems = sorted([...read.problems, ...named.problems, ...locate(findings, layers)], file);
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);

  const { accountFiles } = named.found;
  const texts = [...(accountFiles?.schema ?? []), ...(accountFiles?.mappings ?? [])].map(({ text }) => text);
  const warnings = configWarnings({ config: parsed.data, tree, own: layers.file.tree, texts }).filter(isAbout(role));
  const loaded: LoadedConfig = {
    config: merge(
      withHttpClient(withIdentityFieldsDropped(withAbsolutePaths(parsed.data, files.resolve)), environment),
      constants,
    ) as Config,
    profile,
    file: resolvePath(file),
    schools: listed && {
      files: listed,
      load: async (name, sources) => ({
        ...(await loadConfig({
          environment,
          constants,
          file: listed.get(name) ?? name,
          main: loaded,
          ...(sources && { sources }),
        })),
        school: name,
      }),
    },
    ...secretValues(parsed.data, secrets.values),
    ...named.found,
    sources: files,
    warnings: located([...warnings, ...named.warnings]),
    written: { tree: { ...tree, profile }, place: (path: Path) => placeInLayers(layers, path, 'key') },
    loadText: (text: string) =>
      loadConfig({ ...options, sources: withText(sourceFilesOf(file), resolvePath(file), text) }),
    mistaken: (late: readonly UntracedProblem[]) => new ConfigError(located(late)),
  };
  return main === undefined ? loaded : withProcess(loaded, main);
}

/** Reads the files that the settings name, besides those of secrets. */
async function readNamedFiles(tree: Tree, files: SourceFiles) {
  const account = await readAccountFiles(isServed(tree.account) ? tree.account : undefined, files);
  const members = await readMembersFile(tree, files);
  const logo = await readLogo(tree, files);
  const catalogues = await readCatalogues(tree, files);
  const documents = await readUpstreamDocuments(tree, files);
  const skills = await readSkills(tree, files);
  const cards = await readCards(tree, files);
  return {
    found: {
      accountFiles: account.files,
      members: members.members,
      logo: logo.value,
      languages: catalogues.languages,
      upstreamDocuments: documents.values,
      skills: skills.skills,
      cards: cards.cards,
    },
    findings: [account, members, logo, catalogues, documents, skills, cards].flatMap(({ findings }) => findings),
    problems: [...members.problems, ...catalogues.problems],
    warnings: [...catalogues.warnings, ...skills.warnings],
  };
}

/** A reader for the files of a configuration, with nothing read yet. */
export function sourceFilesOf(file: string, contents?: KeptContents): SourceFiles {
  return sourceFiles(dirname(resolvePath(file)), contents);
}

function isServed(account: unknown): boolean {
  return isObject(account) && account.enabled !== false;
}

/** Keeps one problem per place. The one from the schema comes first and is enough. */
function locate(findings: readonly UntracedProblem[], layers: Layers): readonly Problem[] {
  const seen = new Set<string>();
  return findings.flatMap((finding) => {
    const path = formatPath(finding.path);
    if (seen.has(path) || !layers.file.trusts(finding.path)) return [];
    seen.add(path);
    return [problemAt(placeInLayers(layers, finding.path, finding.at), finding)];
  });
}

/** Sorts problems: the operator's file from top to bottom, then the rest. */
function sorted(problems: readonly Problem[], file: string): readonly Problem[] {
  const rank = (problem: Problem) => (problem.file === file ? 0 : 1);
  return problems.toSorted((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column);
}

/** Makes paths absolute. Drops a disabled Account API, so that it cannot be mounted by mistake. */
function withAbsolutePaths(
  { account, store, login, domains, ...rest }: Config,
  resolve: (path: string) => string,
): Config {
  return {
    ...rest,
    ...(domains !== undefined && { domains: resolve(domains) }),
    login: 'file' in login ? { ...login, file: resolve(login.file) } : login,
    store: store.kind === 'sqlite' ? { ...store, path: resolve(store.path) } : store,
    ...(account?.enabled === true
      ? { account: { ...account, schema: resolve(account.schema), mappings: resolve(account.mappings) } }
      : {}),
  };
}

/**
 * Removes the headers that identify a member to the gate from requests to every upstream. An upstream might trust them,
 * and clients could then send them on routes that pass them on.
 */
function withIdentityFieldsDropped(config: Config): Config {
  const fields = identityFields(config.login);
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => {
    const { request, response } = upstream.headers;
    const headers = { request: { ...request, drop: [...request.drop, ...fields] }, response };
    return [name, { ...upstream, headers }] as const;
  });
  return { ...config, upstreams: Object.fromEntries(upstreams) };
}

/** Makes undici the client for every upstream, if the environment says so. Any other value has been refused. */
function withHttpClient(config: Config, { COURSEGATE_HTTP_CLIENT: client }: Environment): Config {
  if (client !== 'undici') return config;
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [name, { ...upstream, client }]);
  return { ...config, upstreams: Object.fromEntries(upstreams) };
}
