import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedConfig, loadConfig } from '../../../config/load.ts';
import { PLACEHOLDER } from '../../../config/placeholders.ts';
import { readPlainYaml } from '../../../config/plain-yaml.ts';
import { SCOPES_FILE } from '../../../config/profiles.ts';
import type { ScopeConfig } from '../../../config/schema.ts';
import { readInstalled } from '../../../installation.ts';
import { printable } from '../../connect/printable.ts';
import { UsageError } from '../../usage-error.ts';
import type { Framework, Plugin } from '../names.ts';
import { DEFAULT_ADMIN_PORT, type Setup } from './configuration.ts';
import { DISCOVERY_PAGES, discover } from './discoveries.ts';
import { dropIn } from './drop-in.ts';
import { guessFramework, markPaths } from './frameworks.ts';
import { freeAdminPort } from './free-port.ts';
import { DECISION_SECRET, forGateway, pluginGateway, routingView, webServerFiles } from './plugin.ts';
import { CONFIGURATION, type NewFile, SECRET_FILES, type Written, writeConfiguration } from './preset.ts';
import { readPreset } from './preset-file.ts';
import { createProbe } from './probe.ts';
import { whatIsLeft, whatWasSeen } from './report.ts';

export interface InitOptions {
  /** Where the site listens. */
  readonly upstream: string;
  /** The public address; the origin of `upstream` by default. */
  readonly origin?: string | undefined;
  /** The port that the gate will listen on. */
  readonly port: number;
  /** The port of the admin listener; by default 9090, or a free one if that is taken. */
  readonly adminPort?: number | undefined;
  readonly dir: string;
  readonly force: boolean;
  /** Detected if not given. */
  readonly framework?: Framework | undefined;
  readonly site: boolean;
  readonly observe: boolean;
  /** The gateway that asks and forwards requests itself. By default, requests go through the gate. */
  readonly plugin?: Plugin | undefined;
  /** Prints findings and next steps, one line at a time. */
  readonly tell: (line: string) => void;
  /** Asks for confirmation before the files are written. */
  readonly agree: (files: readonly string[]) => Promise<boolean>;
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, and for all of them. */
  readonly patience?: number;
  readonly whole?: number;
}

const PATIENCE = 8000;
const WHOLE = 60_000;

/**
 * Inspects a site, and writes a configuration (loaded once to prove that it is valid), the drop-in, and snippets for
 * the web server. Returns the files written, none if the operator declined. Throws UsageError before anything is
 * written; an existing file is overwritten only with `force`.
 */
export async function init(options: InitOptions): Promise<readonly string[]> {
  const { tell, dir, force, port } = options;
  requirePort(port, '--port');
  if (options.adminPort !== undefined) requirePort(options.adminPort, '--admin-port');
  if (port === options.adminPort) throw new UsageError('--port and --admin-port must differ.');
  const upstream = webAddress(options.upstream, '--upstream');
  const origin = options.origin === undefined ? new URL(upstream.origin) : webAddress(options.origin, '--origin');
  const plugin = pluginOf(options);

  const { framework, preset, found } = await look(options, { upstream, origin });
  const adminPort = options.adminPort ?? (await freeAdminPort(port));
  if (options.adminPort === undefined && adminPort !== DEFAULT_ADMIN_PORT)
    tell(
      `Port ${DEFAULT_ADMIN_PORT} is taken: the admin listener gets ${adminPort}. Use --admin-port to choose another.`,
    );
  const setup: Setup = {
    ...{ framework, preset, found, origin, upstream, port, adminPort },
    site: options.site || options.observe,
    observe: options.observe,
    asked: plugin !== undefined,
  };
  const written = writeConfiguration(setup);
  const configuration = plugin === undefined ? written.configuration : forGateway(written.configuration, plugin);
  const secrets = { bridge: newSecret(), admin: newSecret(), recheck: newSecret() };
  const own: readonly NewFile[] = [
    { path: CONFIGURATION, text: configuration },
    ...written.files,
    ...(plugin?.unixSockets === false ? [secretFile(DECISION_SECRET, newSecret())] : []),
    ...written.secrets.map((name) => secretFile(SECRET_FILES[name], secrets[name])),
  ];
  const loaded = await loadBeforehand(own, written);
  const files: readonly NewFile[] = [
    ...own,
    ...dropIn(setup, configuration, { values: secrets, shared: written.secrets }),
    ...webServerFiles(loaded, plugin),
  ];
  if (!force) requireNew(dir, files);
  if (!(await options.agree(files.map(({ path }) => path)))) return [];
  for (const file of files) await write(dir, file, force);
  for (const line of whatIsLeft(setup, written, routingView(loaded, plugin))) tell(line);
  return files.map(({ path }) => join(dir, path));
}

/** Looks at the site, and tells what was found. */
async function look(
  options: InitOptions,
  { upstream, origin }: Pick<Setup, 'upstream' | 'origin'>,
): Promise<Pick<Setup, 'framework' | 'preset' | 'found'>> {
  const late = AbortSignal.timeout(options.whole ?? WHOLE);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  options.tell(`Inspecting ${upstream.href} …`);
  const probe = createProbe({ upstream, origin }, { signal, patience: options.patience ?? PATIENCE });
  const seen = await probe.request([...new Set([...markPaths(), ...DISCOVERY_PAGES])]);
  const given = options.framework;
  const guess =
    given === undefined ? guessFramework(seen) : ({ framework: given, sure: 'given', marks: [], others: [] } as const);
  const catalogue = readPlainYaml(readInstalled(SCOPES_FILE).toString('utf8')) as {
    scopes: Record<string, ScopeConfig>;
  };
  const { framework } = guess;
  const preset = framework === 'generic' ? undefined : readPreset(framework);
  const found = await discover(probe, preset, catalogue.scopes);
  for (const line of whatWasSeen(await probe.request([]), guess, found)) options.tell(printable(line));
  return { framework, preset, found };
}

function secretFile(path: string, secret: string): NewFile {
  return { path, text: `${secret}\n`, secret: true };
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}

function requirePort(port: number, option: string): void {
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    throw new UsageError(`${option} must be a number from 1 to 65535.`);
}

function webAddress(typed: string, option: string): URL {
  const url = URL.parse(typed);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new UsageError(`${option} must be an address such as http://127.0.0.1:8000, not "${printable(typed)}".`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(`${option} must be an address without a password, query or fragment.`);
  if (option === '--origin' && url.pathname !== '/') throw new UsageError('--origin must be a scheme and host only.');
  return url;
}

function pluginOf({ plugin, site, observe }: InitOptions): ReturnType<typeof pluginGateway> | undefined {
  if (plugin === undefined) return undefined;
  if (site || observe)
    throw new UsageError(
      '--plugin cannot be combined with --site or --observe: they send requests through coursegate.',
    );
  return pluginGateway(plugin);
}

/** Loads the files from a temporary folder, so that an invalid configuration is never written to the target. */
async function loadBeforehand(files: readonly NewFile[], { variables }: Written): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'coursegate-init-'));
  try {
    // What is left to fill in is no mistake of the rest.
    for (const { text, ...file } of files)
      await write(folder, { ...file, text: text.replaceAll(PLACEHOLDER, 'filled-in') }, false);
    return await loadConfig({ file: join(folder, CONFIGURATION), environment: exampleValues(variables) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Values of the right form for the variables that the operator sets later. */
function exampleValues(variables: Written['variables']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map(({ name, path }) => [name, path.at(-1) === 'url' ? 'postgres://db.invalid/example' : 'x'.repeat(64)]),
  );
}

function requireNew(dir: string, files: readonly NewFile[]): void {
  // A link that leads nowhere is a file too.
  const isThere = (path: string) => lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined;
  const there = files.map(({ path }) => path).filter(isThere);
  if (there.length > 0)
    throw new Error(
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
