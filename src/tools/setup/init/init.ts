import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedConfig, loadConfig } from '../../../config/load.ts';
import { readPlainYaml } from '../../../config/plain-yaml.ts';
import { SCOPES_FILE } from '../../../config/profiles.ts';
import type { ScopeConfig } from '../../../config/schema.ts';
import { printable } from '../../connect/printable.ts';
import { SECRET_FILES, secretsOf, writeConfiguration } from './configuration.ts';
import { DISCOVERY_PATHS, type Discoveries, discover } from './discoveries.ts';
import { dropIn, type NewFile } from './drop-in.ts';
import { FRAMEWORKS, type Framework, type Guess, guessFramework, MARK_PATHS } from './frameworks.ts';
import {
  DECISION_SECRET,
  forGateway,
  PLUGINS,
  pluginGateway,
  pluginStep,
  webServerFiles,
  webServerStep,
} from './plugin.ts';
import { type Visit, visit } from './visit.ts';

export interface InitOptions {
  /** Where the site listens. */
  readonly upstream: string;
  /** The public address; the origin of `upstream` by default. */
  readonly origin?: string | undefined;
  /** The port that the gate will listen on. */
  readonly port: number;
  readonly dir: string;
  readonly force: boolean;
  /** Detected if not given. */
  readonly framework?: string | undefined;
  readonly site: boolean;
  readonly observe: boolean;
  /** The gateway that asks and forwards requests itself: one of `PLUGINS`. By default, requests go through the gate. */
  readonly plugin?: string | undefined;
  /** Prints findings and next steps, one line at a time. */
  readonly tell: (line: string) => void;
  /** Asks for confirmation before the files are written. */
  readonly agree: (files: readonly string[]) => Promise<boolean>;
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, and for all of them. */
  readonly patience?: number;
  readonly whole?: number;
}

/** Why `init` failed, worded for the operator. */
class InitError extends Error {
  override readonly name = 'InitError';
}

const PATIENCE = 8000;
const WHOLE = 60_000;
const CONFIGURATION = 'coursegate.yaml';

/**
 * Inspects a site, and writes a configuration (loaded once to prove that it is valid), the drop-in, and snippets for
 * the web server. Returns the files written, none if the operator declined. Throws InitError before anything is
 * written; an existing file is overwritten only with `force`.
 */
export async function init(options: InitOptions): Promise<readonly string[]> {
  const { tell, dir, force, port } = options;
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    throw new InitError('--port must be a number from 1 to 65535.');
  const upstream = webAddress(options.upstream, '--upstream');
  const origin = options.origin === undefined ? new URL(upstream.origin) : webAddress(options.origin, '--origin');
  const given = frameworkOf(options.framework);
  const plugin = pluginOf(options);

  const late = AbortSignal.timeout(options.whole ?? WHOLE);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  tell(`Inspecting ${upstream.href} …`);
  const paths = [...new Set([...MARK_PATHS, ...DISCOVERY_PATHS])];
  const seen = await visit(paths, { upstream, origin, signal, patience: options.patience ?? PATIENCE });
  const guess =
    given === undefined ? guessFramework(seen) : ({ framework: given, sure: 'given', marks: [], others: [] } as const);
  const found = discover(seen, guess.framework);
  for (const line of whatWasSeen(seen, guess, found)) tell(printable(line));

  const catalogue = readPlainYaml(await readFile(SCOPES_FILE, 'utf8')) as { scopes: Record<string, ScopeConfig> };
  const { framework } = guess;
  const secrets = { bridge: newSecret(), admin: newSecret(), recheck: newSecret() };
  const written = writeConfiguration({
    framework,
    port,
    origin,
    upstream,
    found,
    scopes: catalogue.scopes,
    site: options.site || options.observe,
    observe: options.observe,
  });
  const own: readonly NewFile[] = [
    { path: CONFIGURATION, text: plugin === undefined ? written : forGateway(written, plugin) },
    ...(plugin?.unixSockets === false
      ? [{ path: DECISION_SECRET, text: `${newSecret()}\n`, secret: true as const }]
      : []),
    ...secretsOf(framework).map((name) => ({
      path: SECRET_FILES[name],
      text: `${secrets[name]}\n`,
      secret: true as const,
    })),
  ];
  const loaded = await loadBeforehand(own);
  const files: readonly NewFile[] = [
    ...own,
    ...(await dropIn({
      framework,
      origin,
      secrets,
      jwksUrl: `http://127.0.0.1:${port}/.well-known/jwks.json`,
      adminUrl: `http://127.0.0.1:${loaded.config.listen.admin.port}`,
    })),
    ...webServerFiles(loaded, plugin),
  ];
  if (!force) requireNew(dir, files);
  if (!(await options.agree(files.map(({ path }) => path)))) return [];
  for (const file of files) await write(dir, file, force);
  const routing = plugin === undefined ? webServerStep(loaded) : pluginStep(loaded, plugin);
  for (const line of whatIsLeft(framework, origin, upstream, routing)) tell(line);
  return files.map(({ path }) => join(dir, path));
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}

function webAddress(typed: string, option: string): URL {
  const url = URL.parse(typed);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new InitError(`${option} must be an address such as http://127.0.0.1:8000, not "${printable(typed)}".`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new InitError(`${option} must be an address without a password, query or fragment.`);
  if (option === '--origin' && url.pathname !== '/') throw new InitError('--origin must be a scheme and host only.');
  return url;
}

function frameworkOf(given: string | undefined): Framework | undefined {
  const found = FRAMEWORKS.find((name) => name === given);
  if (given !== undefined && found === undefined)
    throw new InitError(`--framework must be one of ${FRAMEWORKS.join(', ')}, not "${printable(given)}".`);
  return found;
}

function pluginOf({ plugin, site, observe }: InitOptions): ReturnType<typeof pluginGateway> {
  if (plugin === undefined) return undefined;
  const found = pluginGateway(plugin);
  if (found === undefined)
    throw new InitError(`--plugin must be one of ${PLUGINS.join(', ')}, not "${printable(plugin)}".`);
  if (site || observe)
    throw new InitError('--plugin cannot be combined with --site or --observe: they send requests through coursegate.');
  return found;
}

function whatWasSeen(
  { unreachable }: Visit,
  { framework, sure, marks, others }: Guess,
  found: Discoveries,
): readonly string[] {
  const list = (items: readonly string[]) => items.join('; ');
  const lines: string[] = [];
  if (unreachable !== undefined)
    lines.push(`The site did not answer (${unreachable}). Writing the usual values for you to complete.`);
  if (sure === 'given') lines.push(`Framework: ${framework}, as given by --framework.`);
  else if (framework === 'generic')
    lines.push('No known framework detected. Writing a generic configuration for a site with session cookies.');
  else lines.push(`Framework: ${sure === 'sure' ? '' : 'probably '}${framework} (${list(marks)}).`);
  if (framework === 'generic' && marks.length > 0) lines.push(`Seen: ${list(marks)}.`);
  if (others.length > 0) lines.push(`Also seen: ${list(others)}. If that is your framework, pass it with --framework.`);
  if (unreachable !== undefined) return lines;
  lines.push(
    `Sign-in page: ${found.loginPath ?? 'none found'}. Session cookies: ${found.sessionCookies.join(', ') || 'none seen'}.`,
  );
  if (framework === 'generic') lines.push(`Address that identifies the member: ${found.whoamiPath ?? 'none found'}.`);
  lines.push(
    `API: ${found.api ?? 'none found'}${found.readable.length > 0 ? `, with ${found.readable.length} readable paths` : ''}.`,
  );
  return lines;
}

/** Loads the files from a temporary folder, so that an invalid configuration is never written to the target. */
async function loadBeforehand(files: readonly NewFile[]): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'coursegate-init-'));
  try {
    for (const file of files) await write(folder, file, false);
    return await loadConfig({ file: join(folder, CONFIGURATION), environment: {} });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function requireNew(dir: string, files: readonly NewFile[]): void {
  // A link that leads nowhere is a file too.
  const isThere = (path: string) => lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined;
  const there = files.map(({ path }) => path).filter(isThere);
  if (there.length > 0)
    throw new InitError(
      `Nothing was written: ${there.join(', ')} already ${there.length === 1 ? 'exists' : 'exist'}. Use --force to overwrite.`,
    );
}

async function write(dir: string, { path, text, secret }: NewFile, force: boolean): Promise<void> {
  const file = join(dir, path);
  await mkdir(dirname(file), { recursive: true });
  // Removed first: overwriting would keep the old file's permissions, and follow a symbolic link.
  if (force) await rm(file, { force: true });
  await writeFile(file, text, { flag: 'wx', ...(secret === true ? { mode: 0o600 } : {}) });
}

function whatIsLeft(framework: Framework, origin: URL, upstream: URL, routing: readonly string[]): readonly string[] {
  const first =
    framework === 'generic'
      ? 'Complete `login` in coursegate.yaml: its comments (1) to (4) say what was found.'
      : `Install drop-in/ as described in integrations/${framework}/README.md.${framework === 'wordpress' ? ' It contains secrets: only the user that runs PHP should be able to read it.' : ''}`;
  return [
    ...(upstream.host === origin.host
      ? [
          `${origin.host} is the public address. Set the address behind the web server under upstreams, or requests will loop.`,
        ]
      : []),
    'Next steps:',
    `  1. ${first}`,
    ...routing,
    '     npx coursegate serve --config coursegate.yaml',
    `  3. Check the deployment: npx coursegate doctor ${origin.origin}`,
  ];
}
