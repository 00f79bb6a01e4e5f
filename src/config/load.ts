/**
 * Loads the configuration: merges its layers, validates them against the schema, reads the files and secrets they name,
 * and checks across settings. All mistakes are reported at once, each with its file, line and column.
 */
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AccountFiles, readAccountFiles, reason } from './account-files.ts';
import { type AdminSecrets, readAdminSecrets } from './admin-secrets.ts';
import { checkCredentials } from './credential-checks.ts';
import { readYaml, type YamlLayer } from './document.ts';
import { checkEnforcement } from './enforcement.ts';
import { readEnvironment } from './environment.ts';
import { readEventsSecrets } from './events-secrets.ts';
import { identityFields } from './header-login.ts';
import { readIssues } from './issues.ts';
import { codeLayer, type Layers, mergeLayers, placeInLayers } from './layers.ts';
import { readLoginSecrets } from './login-secrets.ts';
import { checkLoginSite } from './login-site-checks.ts';
import { type Logo, readLogo } from './logo.ts';
import { type DirectoryMember, readMembersFile } from './members-file.ts';
import { checkOwnRecords } from './own-record-checks.ts';
import { ConfigError, type Finding, type Place, type Problem, problemAt } from './problems.ts';
import { chooseProfile, profileFile, SCOPES_FILE } from './profiles.ts';
import { type RedisSecrets, readRedisSecrets } from './redis-secrets.ts';
import { checkRedis } from './redis-settings.ts';
import { checkReferences } from './reference-checks.ts';
import { checkRoutes } from './route-checks.ts';
import { checkRouteOrder } from './route-order.ts';
import { type Config, configSchema } from './schema.ts';
import {
  type AccountConfig,
  readAccountConfig,
  readInitialAccessToken,
  readRecheckKey,
  readResourceServerSecrets,
  readSealingSecret,
} from './secrets.ts';
import type { Environment } from './setting.ts';
import { type SourceFiles, sourceFiles } from './source-files.ts';
import { checkTools } from './tool-checks.ts';
import { readToolsFile } from './tools-file.ts';
import { formatPath, isTree, merge, type Path, type Tree } from './tree.ts';
import { readUpstreamDocuments } from './upstream-documents.ts';
import { readUpstreamSecrets } from './upstream-secrets.ts';
import { configWarnings } from './warnings.ts';

export { ConfigError };

export interface LoadOptions {
  readonly file: string;
  readonly environment: Environment;
  /** Settings made by code, which override everything else: the demo's ports. */
  readonly overrides?: Tree;
  /** The reader to use, for callers that need to know which files were read even when loading fails. */
  readonly sources?: SourceFiles;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The profile's name, only for the line that says the gate is ready. */
  readonly profile: string;
  /** The operator's file, as an absolute path. */
  readonly file: string;
  /** The value of `secret`. Kept out of `config`, which may be printed. */
  readonly secret: string | undefined;
  /** The values of `furtherSecrets`. */
  readonly furtherSecrets: readonly string[];
  /** The secrets of a redis store; undefined for another store. */
  readonly redis: RedisSecrets | undefined;
  /** The secrets of `login`, keyed by the path of the reference: `login.secret`. */
  readonly loginSecrets: ReadonlyMap<string, string>;
  /** The members in the file of a `directory` login; undefined for another login. */
  readonly members: readonly DirectoryMember[] | undefined;
  /** The secrets of `admin`. */
  readonly admin: AdminSecrets;
  /** The keys that sign events, the current one first; empty when no events are sent. */
  readonly eventKeys: readonly Buffer[];
  /** The value of `clients.registration.initialAccessToken`; undefined: apps need none. */
  readonly initialAccessToken: string | undefined;
  /** The value of `login.recheck.key`; undefined: the backend is asked without one. */
  readonly recheckKey: string | undefined;
  /** The file of `pages.logo`; undefined: there is no logo. */
  readonly logo: Logo | undefined;
  /** The secrets of `upstreams.*.credential`, keyed by path: `upstreams.school.credential.secret`. */
  readonly upstreamSecrets: ReadonlyMap<string, string>;
  /** The documents of `upstreams.*.openapi.file`, by upstream. */
  readonly upstreamDocuments: ReadonlyMap<string, Tree>;
  /** The secrets of `clients.resourceServers`, by name. */
  readonly resourceServers: ReadonlyMap<string, string>;
  /** The files of the Account API; undefined when it is not served. */
  readonly accountFiles: AccountFiles | undefined;
  readonly accountConfig: AccountConfig;
  /** Every file that was read for this configuration. */
  readonly sources: SourceFiles;
  /** Settings that are allowed but most likely unintended. */
  readonly warnings: readonly Problem[];
  /** The merged settings of all layers as written, with the place where each was made. */
  readonly written: { readonly tree: Tree; readonly place: (path: Path) => Place };
  /** Turns mistakes that only show while the gate is being built into the same error as mistakes in the files. */
  readonly mistaken: (findings: readonly Finding[]) => ConfigError;
}

/**
 * Loads the configuration from its layers, highest precedence first: overrides, environment, the operator's file, the
 * tools file, the profile, and the bundled scope catalogue. Paths in the result are absolute.
 *
 * @throws {ConfigError} with every mistake at once
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { file, environment, overrides = {}, sources: files = sourceFilesOf(file) } = options;
  const absolute = resolvePath(file);
  const operator = await readYamlFile(file, () => files.text(absolute));
  const scopes = await readBundled(SCOPES_FILE);
  const fromEnvironment = readEnvironment(environment, merge(scopes.tree, operator.tree) as Tree);
  const chosen = { file: operator, environment: fromEnvironment.layer, overrides: codeLayer(overrides) };
  const wanted = merge(merge(operator.tree, fromEnvironment.layer.tree), overrides) as Tree;
  const { profile, findings: profileFindings } = chooseProfile(wanted.profile);
  const tools = await readToolsFile(wanted, files);
  const layers: Layers = {
    scopes,
    profile: await readBundled(profileFile(profile)),
    tools: tools.layer,
    ...chosen,
  };
  const tree = withoutUnaskedAccount(mergeLayers(layers), layers);

  const parsed = configSchema.safeParse(tree);
  const account = await readAccountFiles(isServed(tree.account) ? tree.account : undefined, files);
  const accountConfig = await readAccountConfig(tree, environment, files);
  const secret = await readSealingSecret(tree.secret, ['secret'], environment, files);
  const further = await Promise.all(
    (Array.isArray(tree.furtherSecrets) ? tree.furtherSecrets : []).map((one, at) =>
      readSealingSecret(one, ['furtherSecrets', at], environment, files),
    ),
  );
  const redis = await readRedisSecrets(tree, environment, files);
  const admin = await readAdminSecrets(tree, environment, files);
  const eventKeys = await readEventsSecrets(tree, environment, files);
  const initialAccessToken = await readInitialAccessToken(tree, environment, files);
  const login = await readLoginSecrets(tree, environment, files);
  const recheckKey = await readRecheckKey(tree, environment, files);
  const members = await readMembersFile(tree, files);
  const logo = await readLogo(tree, files);
  const upstreamSecrets = await readUpstreamSecrets(tree, environment, files);
  const upstreamDocuments = await readUpstreamDocuments(tree, files);
  const resourceServers = await readResourceServerSecrets(tree, environment, files);
  const findings = [
    ...profileFindings,
    ...(parsed.success ? [] : readIssues(parsed.error.issues, tree)),
    ...checkReferences(tree),
    ...checkRedis(tree),
    ...checkLoginSite(tree),
    ...checkRoutes(tree),
    ...checkOwnRecords(tree),
    ...checkRouteOrder(tree),
    ...checkEnforcement(tree),
    ...checkCredentials(tree),
    ...checkTools(tree),
    ...tools.findings,
    ...account.findings,
    ...accountConfig.findings,
    ...secret.findings,
    ...further.flatMap((one) => one.findings),
    ...redis.findings,
    ...admin.findings,
    ...eventKeys.findings,
    ...initialAccessToken.findings,
    ...login.findings,
    ...recheckKey.findings,
    ...members.findings,
    ...logo.findings,
    ...upstreamSecrets.findings,
    ...upstreamDocuments.findings,
    ...resourceServers.findings,
  ];
  const problems = sorted(
    [
      ...[scopes, layers.profile, operator].flatMap((layer) => layer.problems),
      ...fromEnvironment.problems,
      ...tools.problems,
      ...members.problems,
      ...locate(findings, layers),
    ],
    file,
  );
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);

  const texts = [...(account.files?.schema ?? []), ...(account.files?.mappings ?? [])].map(({ text }) => text);
  const warnings = configWarnings({ config: parsed.data, tree, own: operator.tree, texts });

  return {
    config: withIdentityFieldsDropped(withAbsolutePaths(parsed.data, files.resolve)),
    profile,
    file: absolute,
    secret: secret.value,
    furtherSecrets: further.flatMap(({ value }) => value ?? []),
    redis: redis.secrets,
    loginSecrets: login.values,
    members: members.members,
    admin: admin.secrets,
    eventKeys: eventKeys.keys,
    initialAccessToken: initialAccessToken.value,
    recheckKey: recheckKey.value,
    logo: logo.value,
    upstreamSecrets: upstreamSecrets.values,
    upstreamDocuments: upstreamDocuments.values,
    resourceServers: resourceServers.values,
    accountFiles: account.files,
    accountConfig: accountConfig.value,
    sources: files,
    warnings: sorted(locate(warnings, layers), file),
    written: { tree: { ...tree, profile }, place: (path) => placeInLayers(layers, path, 'key') },
    mistaken: (late) => new ConfigError(sorted(locate(late, layers), file)),
  };
}

/** A reader for the files of a configuration, with nothing read yet. */
export function sourceFilesOf(file: string): SourceFiles {
  return sourceFiles(dirname(resolvePath(file)));
}

async function readYamlFile(shown: string, read: () => Promise<string>): Promise<YamlLayer> {
  try {
    return readYaml(shown, await read());
  } catch (error) {
    throw new ConfigError([{ file: shown, line: 0, column: 0, path: '', message: `cannot be read: ${reason(error)}` }]);
  }
}

async function readBundled(url: URL): Promise<YamlLayer> {
  const file = fileURLToPath(url);
  return await readYamlFile(relative('.', file), () => readFile(file, 'utf8'));
}

/** Drops an `account` block that only a profile has: profiles set `enabled`, but only the operator can name its files. */
function withoutUnaskedAccount(tree: Tree, { file, environment, overrides }: Layers): Tree {
  if ([file, environment, overrides].some((layer) => layer.tree.account !== undefined)) return tree;
  const { account: _, ...rest } = tree;
  return rest;
}

function isServed(account: unknown): boolean {
  return isTree(account) && account.enabled !== false;
}

/** Keeps one problem per place. The one from the schema comes first and is enough. */
function locate(findings: readonly Finding[], layers: Layers): readonly Problem[] {
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
function withAbsolutePaths({ account, store, login, ...rest }: Config, resolve: (path: string) => string): Config {
  return {
    ...rest,
    login: login.kind === 'directory' ? { ...login, file: resolve(login.file) } : login,
    store: store.kind === 'sqlite' ? { ...store, path: resolve(store.path) } : store,
    ...(account?.enabled === true
      ? { account: { ...account, schema: resolve(account.schema), mappings: resolve(account.mappings) } }
      : {}),
  };
}

/**
 * Removes the headers of a `header` login from requests to every upstream. An upstream might trust them, and clients
 * could then send them on routes that pass them on.
 */
function withIdentityFieldsDropped(config: Config): Config {
  if (config.login.kind !== 'header') return config;
  const fields = identityFields(config.login);
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => {
    const { request, response } = upstream.headers;
    const headers = { request: { ...request, drop: [...request.drop, ...fields] }, response };
    return [name, { ...upstream, headers }] as const;
  });
  return { ...config, upstreams: Object.fromEntries(upstreams) };
}
