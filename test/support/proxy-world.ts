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
  /** What stands behind `/member/**`, `/public/**` and the site. */
  readonly upstream: string;
  /** Whether what no route names goes to the upstream too; else it is refused. */
  readonly site?: boolean;
  /** The upstream's timeout. */
  readonly timeout?: string;
  /** Keys of the configuration laid over the rest. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Keys of `listen` besides the ports. */
  readonly listenOptions?: Readonly<Record<string, unknown>>;
  /** Replaces constants of the configuration, of a gate in this process. */
  readonly constants?: Readonly<Record<string, unknown>>;
  /** Whether the gate is a process of its own, and what is added to its environment; else it runs in this one. */
  readonly process?: Readonly<Record<string, string>>;
}

/** The whole gate in front of an upstream of the test's own, with a token that a member approved over HTTP. */
export interface ProxyWorld {
  readonly origin: string;
  readonly port: number;
  /** What Host must say. */
  readonly host: string;
  readonly admin: string;
  /** Opens `/member/**`. */
  readonly token: string;
  /** The same of another member, by their id. */
  tokenOf(member: string): Promise<string>;
  readonly process: Command | undefined;
  /** Sends bytes on a connection of their own; out come the bytes that came back until the gate closed it. */
  raw(bytes: string): Promise<string>;
  /** A connection of the caller's own, from another address of this machine if given. */
  socket(from?: string): Promise<RawSocket>;
  /** What the gate has logged: the requests, and what else happened. */
  log(): string;
  close(): Promise<void>;
}

/** `/member/**` takes a token and any method, `/public/**` takes anybody, `GET /reading/**` is for reading with a token. */
export const PROXY_ROUTES = [
  { match: '* /member/**', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' },
  { match: 'GET /reading/**', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' },
  { match: '* /public/**', upstream: 'back', anonymous: 'serve' },
];

/** The tests send in seconds what no caller may in a minute, all from one address. */
const OFTEN = { requests: 1_000_000, per: '1m' };
export const FREELY = {
  address: OFTEN,
  member: OFTEN,
  client: OFTEN,
  attempts: OFTEN,
  open: { address: 100_000, member: 100_000 },
};

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
    profile: 'A',
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
      ? await startHere(file, descriptor, options.constants)
      : await startThere(file, options.process);
  const token = await memberToken(origin, 'm-1');
  return {
    origin,
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
  constants: ProxyWorldOptions['constants'] = {},
): Promise<Running> {
  const loaded = await loadConfig({ file, environment: {}, constants });
  const log = createLog('info', descriptor);
  const gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: descriptor });
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

/** A site where the member whose id is in the cookie is signed in for good. */
async function startSignIn(): Promise<{ url: string; close(): Promise<void> }> {
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
