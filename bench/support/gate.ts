import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorizationRequest, redeem, registerApp } from '../../test/support/app.ts';
import { createBrowser } from '../../test/support/browser.ts';
import { startSchoolWithEcho } from '../../test/support/echo-socket.ts';
import { approve } from '../../test/support/member.ts';
import { freePort, type Process, startProcess } from './processes.ts';

/** The root of this checkout. */
export const THIS_TREE = fileURLToPath(new URL('../..', import.meta.url));
const CLUSTER = fileURLToPath(new URL('cluster.ts', import.meta.url));
/** Number of tokens that the load uses in turn. Each is a real token from a separate flow. */
const TOKENS = 24;

/** The Account API and the tools of the demo. Both need the upstreams `school`, `progress` and `events`. */
export const ACCOUNT_AND_TOOLS = (tree = THIS_TREE) => `account:
  schema: ${tree}/schema/account.graphql
  mappings: ${tree}/schema/upstream/*.graphql
  upstreamSchemas: { events: ${tree}/schema/upstream/recorded/events.graphql }
  config: { currency: EUR }
mcp: { file: ${tree}/config/tools.yaml }
`;

export interface GateOptions {
  readonly folder: string;
  /** The checkout whose source is run. */
  readonly tree?: string | undefined;
  readonly profile?: 'A' | 'B';
  /** URLs by name, beside the demo's school, which is called `site`. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** Lines of the route table. */
  readonly routes?: readonly string[];
  /** More of the configuration, as YAML. */
  readonly more?: string;
  /** The server that is the store; by default it is a file. */
  readonly store?: { readonly kind: 'redis' | 'postgres' | 'mysql'; readonly url: string } | undefined;
  /** Processes that share the port. More than one needs a server as the store. */
  readonly workers?: 1 | 2;
  /** The CPU it is pinned to. */
  readonly processor?: number | undefined;
  /** Starts a gateway in front of it, which asks it about requests (plugin mode). The gate's own port is another one then. */
  readonly gateway?: (place: GatewayPlace) => Promise<Process>;
  /** Makes undici the HTTP client for all upstreams. */
  readonly client?: 'undici' | undefined;
}

interface GatewayPlace {
  /** The configuration of the gate, and the environment that it needs. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The port of the origin. */
  readonly port: number;
  /** A folder for the gateway's files. */
  readonly home: string;
  /** The demo's school. */
  readonly site: string;
}

/** A running gate: `serve` with a store, default settings, the console, audit, metrics, and the access log in a file. */
export interface Gate {
  readonly origin: string;
  readonly port: number;
  /** The admin listener. */
  readonly admin: string;
  readonly pid: number;
  /** Of the gateway in front of it, if there is one. */
  readonly gatewayPid: number | undefined;
  /** The secret of its store, in the environment as BENCH_SECRET. */
  readonly secret: string;
  /** The inspector's port, if it is a single process. */
  readonly inspector: number | undefined;
  /** Access tokens from real sign-ins and approvals. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

export async function startGate(options: GateOptions): Promise<Gate> {
  const { tree = THIS_TREE, workers = 1 } = options;
  // Before the free ports are looked for, because it would take one of them.
  const school = await startSchoolWithEcho({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock: Date.now,
  });
  const [port, adminPort, inspector] = [await freePort(), await freePort(), await freePort()];
  const publicPort = options.gateway === undefined ? port : await freePort();
  // The load asks for 127.0.0.1, and a gateway's decision is for the host of the origin only.
  const origin = `http://${options.gateway === undefined ? 'localhost' : '127.0.0.1'}:${publicPort}`;
  const home = mkdtempSync(join(options.folder, 'gate-'));
  mkdirSync(join(home, 'data'));
  const file = join(home, 'gate.yaml');
  writeFileSync(
    file,
    configuration(
      { port, adminPort, origin, site: school.urls.school, decisions: join(home, 'decisions.sock') },
      options,
    ),
  );
  const secret = randomBytes(32).toString('base64url');
  const node = workers === 1 ? [`--inspect-port=${inspector}`] : [CLUSTER, String(workers)];
  const environment = { BENCH_SECRET: secret, STORE_URL: options.store?.url ?? '' };
  const gate = await startProcess(process.execPath, [...node, join(tree, 'src/main.ts'), 'serve', '--config', file], {
    processor: options.processor,
    environment: {
      ...environment,
      COURSEGATE_HTTP_CLIENT: options.client ?? '',
      ...profiling(home),
    },
    ready: new RegExp(`(coursegate ready[^]*){${workers}}`),
    output: join(home, 'output.log'),
  });
  const gateway = await options.gateway?.({ file, environment, port: publicPort, home, site: school.urls.school });
  const tokens = await accessTokens(origin);
  return {
    origin,
    port: publicPort,
    admin: `http://127.0.0.1:${adminPort}`,
    pid: gate.pid,
    gatewayPid: gateway?.pid,
    secret,
    inspector: workers === 1 ? inspector : undefined,
    tokens,
    async stop() {
      await gateway?.stop();
      await gate.stop();
      await school.close();
    },
  };
}

function configuration(
  at: {
    readonly port: number;
    readonly adminPort: number;
    readonly origin: string;
    readonly site: string;
    /** The Unix socket for a gateway. */
    readonly decisions: string;
  },
  { profile = 'A', upstreams, routes = [], more = '', store, gateway }: GateOptions,
): string {
  // Debian's nginx is too old for plain fields.
  const identity = gateway === undefined ? '' : ', identity: [assertion]';
  const named = Object.entries({ site: at.site, ...upstreams }).map(
    ([name, url]) => `  ${name}: { url: ${url}${identity} }`,
  );
  return `version: 1
${profileLines(profile, more)}
origin: ${at.origin}
listen:
  port: ${at.port}
  admin: { port: ${at.adminPort} }
${gateway === undefined ? '' : `  trustedProxies: [loopback]\n  decisions: { address: "unix:${at.decisions}" }\n`}store: ${store === undefined ? '{ kind: sqlite, path: data/gate.db }' : `{ kind: ${store.kind}, url: { env: STORE_URL } }`}
secret: { env: BENCH_SECRET }
# With the console, so that what it keeps is measured too.
admin: { hmac: { secret: { env: BENCH_SECRET } } }
login:
  kind: session
  upstream: site
  whoami: { path: /api/me, subject: /id, email: /email, name: /name }
  loginUrl: /login
  cookies: [school_session]
upstreams:
${named.join('\n')}
site: { upstream: site }
# The load is one member's from one address: counted as always, but never refused.
limits:
  address: { requests: 1000000000, per: 1m }
  member: { requests: 1000000000, per: 1m }
  client: { requests: 1000000000, per: 1m }
  attempts: { requests: 1000000000, per: 1m }
  open: { address: 100000, member: 100000 }
${routes.length === 0 ? '' : `routes:\n${routes.map((line) => `  - ${line}\n`).join('')}`}${more}`;
}

/** Profile A without an Account API is profile B with its other settings. */
function profileLines(profile: 'A' | 'B', more: string): string {
  return profile === 'A' && !/^account:/m.test(more)
    ? 'profile: B\nresourceIndicator: required\nanonymous: refuse'
    : `profile: ${profile}`;
}

/** Gets tokens for one app and one member, with one approval each, over HTTP like an app and a browser. */
export async function accessTokens(origin: string): Promise<string[]> {
  const app = await registerApp(origin);
  const browser = createBrowser();
  const tokens: string[] = [];
  while (tokens.length < TOKENS) {
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { browser });
    tokens.push((await redeem(app, request, returned)).access_token);
  }
  return tokens;
}

/** With BENCH_PROFILE=folder, a CPU profile of the gate is written to that folder. */
function profiling(home: string): Record<string, string> {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}`, HOME: home };
}
