import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { readPlainYaml } from '../../config/plain-yaml.ts';
import { SCOPES_FILE } from '../../config/profiles.ts';
import type { ScopeConfig } from '../../config/schema.ts';
import { printable } from '../../connect/printable.ts';
import { configuredSnippet } from '../snippets/configured.ts';
import { SNIPPETS } from '../snippets/snippet.ts';
import {
  ADMIN_SECRET_FILE,
  hasSwitch,
  RECHECK_KEY_FILE,
  SECRET_FILE,
  usesBridge,
  writeConfiguration,
} from './configuration.ts';
import { DISCOVERY_PATHS, type Discoveries, discover } from './discoveries.ts';
import { dropIn, type NewFile } from './drop-in.ts';
import { FRAMEWORKS, type Framework, type Guess, guessFramework, MARK_PATHS, sightOf } from './frameworks.ts';
import { type Visit, visit } from './visit.ts';

export interface InitOptions {
  /** Where the site listens. */
  readonly upstream: string;
  /** Where members reach it; left out, the same. */
  readonly origin?: string | undefined;
  /** Where the gate is to listen, on this machine. */
  readonly port: number;
  readonly dir: string;
  readonly force: boolean;
  /** Left out, what the site looks like. */
  readonly framework?: string | undefined;
  readonly site: boolean;
  readonly observe: boolean;
  /** What was seen and what is left to do, one line each. */
  readonly tell: (line: string) => void;
  /** Asked before anything is written, with the files. */
  readonly agree: (files: readonly string[]) => Promise<boolean>;
  readonly signal?: AbortSignal;
  /** Milliseconds for one exchange, and for all of them. */
  readonly patience?: number;
  readonly whole?: number;
}

/** What keeps the command from its work, in words for whoever typed it. */
class InitError extends Error {
  override readonly name = 'InitError';
}

const PATIENCE = 8000;
const WHOLE = 60_000;
const CONFIGURATION = 'coursegate.yaml';

/**
 * Looks at a site, and writes a configuration that loads, the drop-in and the lines for the web server. Out: the files
 * that were written; none when nobody agreed. Throws InitError before anything is written: nothing is written over
 * without `force`.
 */
export async function init(options: InitOptions): Promise<readonly string[]> {
  const { tell, dir, force, port } = options;
  if (!(Number.isInteger(port) && port > 0 && port < 65_536)) throw new InitError('--port takes a number up to 65535.');
  const upstream = webAddress(options.upstream, '--upstream');
  const origin = options.origin === undefined ? new URL(upstream.origin) : webAddress(options.origin, '--origin');
  const told = frameworkOf(options.framework);

  const late = AbortSignal.timeout(options.whole ?? WHOLE);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  tell(`Looking at ${upstream.href} …`);
  const paths = [...new Set([...MARK_PATHS, ...DISCOVERY_PATHS])];
  const seen = await visit(paths, { upstream, origin, signal, patience: options.patience ?? PATIENCE });
  const guess =
    told === undefined
      ? guessFramework(sightOf(seen))
      : ({ framework: told, sure: 'told', marks: [], others: [] } as const);
  const found = discover(seen, guess.framework);
  for (const line of whatWasSeen(seen, guess, found)) tell(printable(line));

  const catalogue = readPlainYaml(await readFile(SCOPES_FILE, 'utf8')) as { scopes: Record<string, ScopeConfig> };
  const { framework } = guess;
  const [secret, adminSecret, recheckKey] = [newSecret(), newSecret(), newSecret()];
  const configuration = writeConfiguration({
    framework,
    port,
    origin,
    upstream,
    found,
    scopes: catalogue.scopes,
    site: options.site || options.observe,
    observe: options.observe,
  });
  const secretFile = (path: string, value: string): NewFile => ({ path, text: `${value}\n`, secret: true });
  const own: readonly NewFile[] = [
    { path: CONFIGURATION, text: configuration },
    ...(usesBridge(framework) ? [secretFile(SECRET_FILE, secret)] : []),
    ...(hasSwitch(framework)
      ? [secretFile(ADMIN_SECRET_FILE, adminSecret), secretFile(RECHECK_KEY_FILE, recheckKey)]
      : []),
  ];
  const loaded = await loadBeforehand(own);
  const proxies = Object.entries(SNIPPETS).map(([server, { file }]) => ({
    path: `proxy/${file}`,
    text: configuredSnippet(loaded.config, server).text,
  }));
  const files: readonly NewFile[] = [
    ...own,
    ...(await dropIn({
      framework,
      origin,
      secret,
      adminSecret,
      recheckKey,
      jwksUrl: `http://127.0.0.1:${port}/.well-known/jwks.json`,
      adminUrl: `http://127.0.0.1:${loaded.config.listen.admin.port}`,
    })),
    ...proxies,
  ];
  if (!force) await requireNew(dir, files);
  if (!(await options.agree(files.map(({ path }) => path)))) return [];
  for (const file of files) await write(dir, file, force);
  for (const line of whatIsLeft(framework, origin, upstream)) tell(line);
  return files.map(({ path }) => join(dir, path));
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}

function webAddress(typed: string, option: string): URL {
  const url = URL.parse(typed);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new InitError(`${option} takes an address such as http://127.0.0.1:8000, not "${printable(typed)}".`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new InitError(`${option} takes an address without a password, query or fragment.`);
  if (option === '--origin' && url.pathname !== '/') throw new InitError('--origin takes scheme and host only.');
  return url;
}

function frameworkOf(given: string | undefined): Framework | undefined {
  const found = FRAMEWORKS.find((name) => name === given);
  if (given !== undefined && found === undefined)
    throw new InitError(`--framework takes ${FRAMEWORKS.join(', ')}, not "${printable(given)}".`);
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
    lines.push(`Nothing answered (${unreachable}): the file has what is usual, to be filled in.`);
  if (sure === 'told') lines.push(`${framework}, as you say.`);
  else if (framework === 'generic')
    lines.push('It looks like nothing that is known here: a file for any site with a session cookie.');
  else lines.push(`It is ${sure === 'sure' ? 'surely' : 'likely'} ${framework}: ${list(marks)}.`);
  if (framework === 'generic' && marks.length > 0) lines.push(`Seen: ${list(marks)}.`);
  if (others.length > 0) lines.push(`Seen too: ${list(others)}. If it is that, say so: --framework.`);
  if (unreachable !== undefined) return lines;
  lines.push(
    `Sign-in page: ${found.loginPath ?? 'none found'}. Session cookies: ${found.sessionCookies.join(', ') || 'none seen'}.`,
  );
  if (framework === 'generic') lines.push(`Who is signed in: ${found.whoamiPath ?? 'no address found that says so'}.`);
  lines.push(
    `API: ${found.api ?? 'none found'}${found.readable.length > 0 ? `, with ${found.readable.length} addresses to read` : ''}.`,
  );
  return lines;
}

/** In a folder of its own, so that what does not load is never seen. */
async function loadBeforehand(files: readonly NewFile[]): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'coursegate-init-'));
  try {
    for (const file of files) await write(folder, file, false);
    return await loadConfig({ file: join(folder, CONFIGURATION), environment: {} });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function requireNew(dir: string, files: readonly NewFile[]): Promise<void> {
  const there: string[] = [];
  for (const { path } of files) {
    const exists = await lstat(join(dir, path)).then(
      () => true,
      () => false,
    );
    if (exists) there.push(path);
  }
  if (there.length > 0)
    throw new InitError(
      `Nothing was written: ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already. --force writes over them.`,
    );
}

async function write(dir: string, { path, text, secret }: NewFile, force: boolean): Promise<void> {
  const file = join(dir, path);
  await mkdir(dirname(file), { recursive: true });
  // Taken away first: a file that is written over keeps who may read it, and a link where it leads.
  if (force) await rm(file, { force: true });
  await writeFile(file, text, { flag: 'wx', ...(secret === true ? { mode: 0o600 } : {}) });
}

function whatIsLeft(framework: Framework, origin: URL, upstream: URL): readonly string[] {
  const first =
    framework === 'generic'
      ? 'Look at `login` in coursegate.yaml, where (1) to (4) say what was found and what was not.'
      : `Install the drop-in: drop-in/, as integrations/${framework}/README.md says.${framework === 'wordpress' ? ' It has secrets in it: let only the user that PHP runs as read it.' : ''}`;
  return [
    ...(upstream.host === origin.host
      ? [
          `${origin.host} is the public address. Put the one behind the web server under upstreams, or requests go round in circles.`,
        ]
      : []),
    'Three things are left:',
    `  1. ${first}`,
    '  2. Route the paths: proxy/ has the lines for nginx, Apache, Caddy and Traefik. Then start the gate:',
    '     npx coursegate serve --config coursegate.yaml',
    `  3. See whether all is well: npx coursegate doctor ${origin.origin}`,
  ];
}
