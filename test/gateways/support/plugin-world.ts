import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import type { DecisionAddress } from '../../../src/decisions/settings.ts';
import { createLog } from '../../../src/operations/log.ts';
import { configuredSnippet, printed } from '../../../src/operator/setup/snippets/configured.ts';
import { startGateway } from '../../../src/process/gateway.ts';
import { type App, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { type Command, runCommand } from '../../support/command.ts';
import { approved, type Tokens, token } from '../../support/connection.ts';
import { type ProofKey, signProof } from '../../support/proof.ts';
import { FREELY, startSignIn } from '../../support/proxy-world.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { freePort } from '../../support/world.ts';
import type { GatewayKind, RunningGateway } from './gateway-kind.ts';

/** The gate, for gateways that ask it and forward requests themselves. */
export interface PluginWorld {
  /** The public origin. Each gateway listens there in its turn. */
  readonly origin: string;
  readonly port: number;
  /** The public host, for the Host field. */
  readonly host: string;
  /** The gate's own listener, which serves the same routes as a proxy. */
  readonly gatePort: number;
  /** The backend of the routes, and the rest of the site. */
  readonly backend: ScriptedUpstream;
  /** Milliseconds by which the clock of a gate in this process is ahead. */
  readonly time: { ahead: number };
  /** The gate as a process of its own. */
  readonly gate: GateProcess;
  /** Starts a gateway with the file that coursegate prints for it, at the public origin by default. */
  gateway(kind: GatewayKind, options?: GatewayOptions): Promise<RunningGateway>;
  /** Connects a new app for a member, by member ID, through whatever listens at the public origin. */
  connect(member: string, options?: ConnectOptions): Promise<Connected>;
  close(): Promise<void>;
}

interface GatewayOptions {
  /** Changes the file. */
  readonly change?: (snippet: string) => string;
  /** Whether nobody answers where it asks. */
  readonly unanswered?: boolean;
  /** Where it listens. Clients name the public origin in Host nevertheless. */
  readonly port?: number;
}

interface GateProcess {
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
}

interface ConnectOptions {
  readonly scope?: string;
  readonly resource?: string;
  /** The key that the tokens are bound to. */
  readonly key?: ProofKey;
}

interface Connected extends Tokens {
  readonly app: App;
}

export interface PluginWorldOptions {
  /** Runs the gate as a process, which is not started yet. By default it runs in this process. */
  readonly separate?: boolean;
  /** The URL of a Redis for the store. By default the store is a file of SQLite. */
  readonly redis?: string | undefined;
}

const MINE = { upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' };
const THEIRS = { ...MINE, forwardedBy: 'gateway' };
const ANYBODY = { upstream: 'back', anonymous: 'serve', forwardedBy: 'gateway' };

const ROUTES = [
  { match: '* /member/**', ...THEIRS },
  { match: 'GET /reading/**', ...THEIRS },
  { match: 'POST /posting/**', ...THEIRS },
  { match: 'GET /part/**', ...THEIRS },
  { match: 'GET /own/{member.id}/orders', ...THEIRS },
  { match: 'GET /scarce/**', ...THEIRS, limits: { member: { requests: 2, per: '1h' } } },
  { match: 'GET /few/**', ...ANYBODY, limits: { address: { requests: 2, per: '1h' } } },
  { match: '* /public/**', ...ANYBODY },
  { match: 'GET /staff/**', ...THEIRS, scopes: ['orders:read'] },
  { match: 'GET /through/**', ...MINE },
];

const ENVIRONMENT = {
  COURSEGATE_DECISION_SECRET: 'only-gateways-know-this-32-chars',
  COURSEGATE_SECRET: 'k'.repeat(32),
};

export async function startPluginWorld({ separate = false, redis }: PluginWorldOptions = {}): Promise<PluginWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-plugin-'));
  const [port, gatePort] = [await freePort(), await freePort()];
  const host = `localhost:${port}`;
  const origin = `http://${host}`;
  const [school, backend] = [await startSignIn(), await startScriptedUpstream(true)];
  const socket = join(folder, 'decisions.sock');
  const file = join(folder, 'coursegate.yaml');
  const config = {
    version: 1,
    profile: 'B',
    resourceIndicator: 'required',
    anonymous: 'refuse',
    origin,
    listen: {
      port: gatePort,
      admin: { port: 0 },
      trustedProxies: ['127.0.0.1'],
      decisions: {
        address: `unix:${socket}`,
        secret: { env: 'COURSEGATE_DECISION_SECRET' },
      },
    },
    ...(redis === undefined
      ? { store: { kind: 'sqlite', path: join(folder, 'gate.db') } }
      : { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } }),
    login: {
      kind: 'session',
      upstream: 'school',
      whoami: { path: '/me' },
      loginUrl: `${school.url}/login`,
      cookies: ['school'],
    },
    upstreams: {
      school: { url: school.url },
      back: { url: backend.url, breaker: { failures: 0 }, headers: { request: { allow: ['X-Allowed'] } } },
    },
    resources: [{ path: '/part', name: 'Part', scopes: ['courses:read'] }],
    routes: ROUTES,
    log: { level: 'info', access: false },
    limits: FREELY,
  };
  writeFileSync(file, stringify(config));
  const environment = { ...ENVIRONMENT, ...(redis === undefined ? {} : { REDIS_URL: redis }) };
  const loaded = await loadConfig({ file, environment });
  const time = { ahead: 0 };
  const here = separate
    ? undefined
    : await startGateway({ loaded, log: createLog('silent', 2), clock: () => Date.now() + time.ahead });
  const gate = processOf(file, environment);
  const relay = await startRelay(socket);

  return {
    origin,
    port,
    host,
    gatePort,
    backend,
    time,
    gate,
    async gateway(kind, { change = (snippet: string) => snippet, unanswered = false, port: its = port } = {}) {
      const own = mkdtempSync(join(folder, `${kind.name}-`));
      const asked = kind.unixSockets ? { path: socket } : { host: '127.0.0.1', port: relay.port };
      const nobody = kind.unixSockets ? { path: `${socket}.none` } : { host: '127.0.0.1', port: await freePort() };
      const reached = askingAt(loaded, unanswered ? nobody : asked);
      const known = kind.assertionOnly === true ? withAssertions(reached) : reached;
      const at = kind.gateHost === undefined ? undefined : `${kind.gateHost}:${gatePort}`;
      const snippet = change(printed(configuredSnippet(known, kind.server, at).files));
      return kind.start({ port: its, snippet, site: backend.url, folder: own });
    },
    connect: (member, options) => connectApp(origin, member, options),
    async close() {
      await here?.close(0);
      await gate.kill();
      await relay.close();
      await school.close();
      await backend.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The configuration for a gateway that asks elsewhere. */
function askingAt(loaded: LoadedConfig, address: DecisionAddress): LoadedConfig {
  const { config } = loaded;
  const { decisions } = config.listen;
  if (decisions === undefined) throw new Error('The gate of these tests has no decision listener.');
  const changed = { ...decisions, address };
  return { ...loaded, config: { ...config, listen: { ...config.listen, decisions: changed } } };
}

/** The configuration for backends that know a member only by the assertion. */
function withAssertions(loaded: LoadedConfig): LoadedConfig {
  const { config } = loaded;
  const upstreams = Object.entries(config.upstreams).map(([name, one]) => [name, { ...one, identity: ['assertion'] }]);
  return { ...loaded, config: { ...config, upstreams: Object.fromEntries(upstreams) } };
}

function processOf(file: string, environment: Readonly<Record<string, string>>): GateProcess {
  let command: Command | undefined;
  return {
    async start() {
      command = runCommand(['serve', '--config', file], environment);
      await command.line(/^coursegate ready/);
    },
    signal: (signal) => command?.signal(signal),
    async kill() {
      command?.signal('SIGKILL');
      await command?.exited;
      command = undefined;
    },
  };
}

/** Forwards connections to a Unix socket. Closes those for which nobody listens there. */
async function startRelay(path: string): Promise<{ readonly port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server: Server = createServer((incoming) => {
    const outgoing = connect({ path });
    for (const socket of [incoming, outgoing]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    }
    incoming.on('error', () => undefined).on('close', () => outgoing.destroy());
    outgoing.on('error', () => undefined).on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

async function connectApp(
  origin: string,
  member: string,
  { scope = 'openid courses:read', resource, key }: ConnectOptions = {},
): Promise<Connected> {
  const registered = await registerApp(origin);
  const app = { ...registered, resource: resource ?? registered.resource };
  const browser = createBrowser();
  browser.cookies.set('school', { value: member, path: '/' });
  const { form } = await approved(app, { browser, parameters: { scope } });
  const htu = app.server.token_endpoint;
  const proof = key && (await signProof(key, { htm: 'POST', htu }));
  const { status, body } = await token(app, form, proof === undefined ? {} : { dpop: proof });
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  return { ...body, app };
}
