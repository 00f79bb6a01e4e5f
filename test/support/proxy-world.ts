import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { startGateway } from '../../src/process/gateway.ts';
import { authorizationRequest, redeem, registerApp } from './app.ts';
import { createBrowser } from './browser.ts';
import { type Command, runCommand } from './command.ts';
import { approve } from './member.ts';
import { type RawSocket, rawExchange, rawSocket } from './raw-socket.ts';
import { freePort } from './world.ts';

export interface ProxyWorldOptions {
  /** The URL of what is behind `/member/**`, `/public/**` and the site. */
  readonly upstream: string;
  /** Whether requests that match no route go to the upstream too, instead of being refused. */
  readonly site?: boolean;
  readonly timeout?: string;
  /** Configuration keys that override the rest. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Keys of `listen` other than the ports. */
  readonly listenOptions?: Readonly<Record<string, unknown>>;
  /** Overrides constants of the configuration. Only for a gate in this process. */
  readonly constants?: Readonly<Record<string, unknown>>;
  /** Only for a gate in this process. */
  readonly clock?: () => number;
  /** Runs the gate as a separate process with this added to its environment. By default it runs in this process. */
  readonly process?: Readonly<Record<string, string>>;
}

/** The whole gate in front of the test's own upstream, with a token that a member approved over HTTP. */
export interface ProxyWorld {
  readonly origin: string;
  /** The configuration file. */
  readonly file: string;
  readonly port: number;
  /** The expected Host. */
  readonly host: string;
  readonly admin: string;
  /** An access token for `/member/**`. */
  readonly token: string;
  /** A token of another member, by member ID. */
  tokenOf(member: string): Promise<string>;
  readonly process: Command | undefined;
  /** Sends bytes on a new connection and returns everything received until the gate closed it. */
  raw(bytes: string): Promise<string>;
  /** Opens a connection, from another address of this machine if given. */
  socket(from?: string): Promise<RawSocket>;
  /** Everything the gate has logged: the access log and other events. */
  log(): string;
  close(): Promise<void>;
}

/**
 * `/member/**` needs a token and takes any method, `/public/**` needs no token, `GET /reading/**` needs a token and is
 * read-only.
 */
export const PROXY_ROUTES = [
  { match: '* /member/**', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' },
  { match: 'GET /reading/**', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' },
  { match: '* /public/**', upstream: 'back', anonymous: 'serve' },
];

/** The tests send more requests from one address in seconds than a caller may send in a minute. */
const OFTEN = { requests: 1_000_000, per: '1m' };
export const FREELY = {
  address: OFTEN,
  member: OFTEN,
  client: OFTEN,
  attempts: OFTEN,
  open: { address: 100_000, member: 100_000 },
};

/** As strict as profile A, unless the test names a profile: then with its own settings, and the Account API that A serves. */
function profileIn(folder: string, given: unknown): Readonly<Record<string, unknown>> {
  if (given === undefined) return { profile: 'B', resourceIndicator: 'required', anonymous: 'refuse' };
  if (given !== 'A') return {};
  const [schema, mappings] = [join(folder, 'account.graphql'), join(folder, 'mapping.graphql')];
  writeFileSync(schema, 'type Query { viewer: Viewer! } type Viewer { id: ID! }\n');
  writeFileSync(mappings, 'extend schema @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@connect"])\n');
  return { account: { schema, mappings } };
}

export async function startProxyWorld(options: ProxyWorldOptions): Promise<ProxyWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-proxy-'));
  const school = await startSignIn();
  const port = await freePort();
  const host = `localhost:${port}`;
  const origin = `http://${host}`;
  const file = join(folder, 'coursegate.yaml');
  const loginUrl = options.site === false ? `${school.url}/login` : '/login';
  const config = {
    version: 1,
    ...profileIn(folder, options.config?.profile),
    origin,
    listen: { port, admin: { port: 0 }, ...options.listenOptions },
    store: { kind: 'memory' },
    login: { kind: 'session', upstream: 'school', whoami: { path: '/me' }, loginUrl, cookies: ['school'] },
    upstreams: {
      school: { url: school.url },
      back: {
        url: options.upstream,
        timeout: options.timeout ?? '10s',
        breaker: { failures: 0 },
        headers: { request: { allow: ['X-Hop-Id'] } },
      },
    },
    routes: PROXY_ROUTES,
    log: { level: 'info', access: true },
    limits: FREELY,
    ...(options.site === false ? {} : { site: { upstream: 'back' } }),
    ...options.config,
  };
  writeFileSync(file, stringify(config));
  const logFile = join(folder, 'log');
  const descriptor = openSync(logFile, 'a');
  const gate =
    options.process === undefined
      ? await startHere(file, descriptor, options)
      : await startThere(file, options.process);
  const token = await memberToken(origin, 'm-1');
  return {
    origin,
    file,
    port,
    host,
    token,
    tokenOf: (member) => memberToken(origin, member),
    admin: gate.admin,
    process: gate.process,
    raw: (bytes) => rawExchange(port, bytes),
    socket: (from) => rawSocket(port, from),
    log: () => readFileSync(logFile, 'utf8') + (gate.process?.stdout() ?? '') + (gate.process?.stderr() ?? ''),
    async close() {
      await gate.close();
      await school.close();
      closeSync(descriptor);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Running {
  readonly admin: string;
  readonly process: Command | undefined;
  close(): Promise<void>;
}

async function startHere(
  file: string,
  descriptor: number,
  { constants = {}, clock = Date.now }: ProxyWorldOptions,
): Promise<Running> {
  const loaded = await loadConfig({ file, environment: {}, constants });
  const log = createLog('info', descriptor);
  const gateway = await startGateway({ loaded, log, clock, accessDescriptor: descriptor });
  return { admin: `http://127.0.0.1:${gateway.adminPort}`, process: undefined, close: () => gateway.close(0) };
}

async function startThere(file: string, environment: Readonly<Record<string, string>>): Promise<Running> {
  const adminPort = await freePort();
  const command = runCommand(['serve', '--config', file], { ADMIN_PORT: String(adminPort), ...environment });
  await command.line(/^coursegate ready/);
  return {
    admin: `http://127.0.0.1:${adminPort}`,
    process: command,
    async close() {
      command.signal('SIGKILL');
      await command.exited;
    },
  };
}

/** A site where the member whose ID is in the cookie is always signed in. */
export async function startSignIn(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(({ headers }, response) => {
    response.end(JSON.stringify({ id: /\bschool=([\w-]+)/.exec(headers.cookie ?? '')?.[1] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function memberToken(origin: string, member: string): Promise<string> {
  const app = await registerApp(origin);
  const browser = createBrowser();
  browser.cookies.set('school', { value: member, path: '/' });
  const request = await authorizationRequest(app, { scope: 'openid courses:read' });
  const returned = await approve(request.url, app.redirectUri, { browser });
  return (await redeem(app, request, returned)).access_token;
}
