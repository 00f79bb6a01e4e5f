import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Which room may import from which. Its own files, and the leaves, are open to every room. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  oauth: [],
  // The hash of a member's password is checked where it stands in a file, with its line.
  config: ['oauth', 'login/password-hash.ts'],
  storage: ['config'],
  upstream: ['oauth', 'config'],
  login: ['oauth', 'config', 'upstream', 'storage'],
  'resource-server': ['oauth', 'config', 'storage'],
  // What members let in and what ends is told to the backend, in the commit that makes it so.
  'authorization-server': ['oauth', 'config', 'storage', 'login', 'upstream', 'events'],
  events: ['oauth', 'config', 'storage', 'upstream', 'operations/one-at-a-time.ts'],
  account: ['oauth', 'config', 'upstream'],
  // Storage because a call with an idempotency key is remembered for all replicas.
  mcp: ['oauth', 'config', 'upstream', 'storage'],
  discovery: ['oauth', 'config'],
  operations: ['oauth', 'config', 'storage'],
  http: ['oauth'],
  limits: ['oauth', 'config', 'storage'],
  connect: [],
  // What another program sees: it knows nothing of the gate but what the standards say.
  doctor: ['connect/printable.ts'],
  // The doctor's way to ask a site that nobody knows yet.
  setup: ['config', 'doctor', 'connect/printable.ts', 'public-paths.ts', 'operations/observe/suggested-scope.ts'],
  // Reads the configuration again when its files change.
  watch: ['config'],
  demo: ['config', 'connect', 'storage', 'operations', 'gateway.ts'],
  // The gate as several processes: the primary runs none of it, and a worker all of it.
  cluster: [
    'config',
    'config-fingerprint.ts',
    'storage',
    'operations',
    'gateway.ts',
    'interfaces.ts',
    'login/database/check-driver.ts',
  ],
  // What is typed: it starts the work of any room, and no room knows of it.
  commands: [
    'config',
    'storage',
    'login',
    'account',
    'mcp',
    'operations',
    'authorization-server/administration',
    'connect',
    'doctor',
    'setup',
    'demo',
    'events',
    'cluster',
    'gateway.ts',
    'watch/follow.ts',
    'interfaces.ts',
  ],
};

const LEAVES = [
  '../package.json',
  'errors.ts',
  'handed-down.ts',
  'http',
  'operations/log.ts',
  'operations/audit.ts',
  'operations/ration.ts',
];

/** One dependency, one home. A name that is not here may be imported by nobody. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  'oidc-provider': ['authorization-server'],
  // In the gate because the JWT of a DPoP proof is checked there (RFC 9449 §4.3), at every door.
  jose: [
    'resource-server/dpop.ts',
    'authorization-server/keyring.ts',
    'authorization-server/provider.ts',
    'upstream/identity.ts',
    // What others sign of who signed in there.
    'login/signed-token',
    'login/oidc/discovery.ts',
    'demo/school',
  ],
  'openid-client': ['login/oidc'],
  pg: ['login/database/postgres.ts'],
  mysql2: ['login/database/mysql.ts'],
  // A document's fetch pins the address it has judged, on a client of its own: never on a pool of an upstream.
  undici: ['upstream', 'authorization-server/client-documents/fetch-document.ts'],
  'http-proxy-middleware': ['upstream/site.ts', 'upstream/site-exchange.ts'],
  graphql: ['account', 'demo/school'],
  yaml: ['config'],
  re2js: ['config/pattern.ts'],
  zod: ['config'],
  pino: ['operations/log.ts'],
  'prom-client': ['operations/metrics.ts', 'operations/reload-metrics.ts', 'operations/part-metrics.ts'],
  '@modelcontextprotocol/server': ['mcp'],
  'lru-cache': [
    'resource-server/cache.ts',
    'upstream',
    'account',
    'authorization-server/client-documents',
    'storage/memory-counters.ts',
  ],
  'rate-limiter-flexible': ['storage/redis-counters.ts'],
  // In tools, what texts of the school say is read as clients would read it: as Markdown, and as HTML.
  '@lezer/markdown': ['mcp/markdown.ts'],
  parse5: ['login/form/login-page.ts', 'mcp/html.ts', 'mcp/urls.ts'],
  bcryptjs: ['login/bcrypt-thread.ts'],
  commander: ['main.ts', 'commands'],
  ioredis: ['storage/redis.ts', 'storage/redis-connection.ts', 'storage/redis-start.ts', 'storage/redis-target.ts'],
  oauth4webapi: ['connect', 'demo/client', 'demo/client.ts'],
  express: ['demo'],
  ws: ['demo/school'],
};

/** What may touch the process it runs in: what reads the command line, prints, and ends. */
const PROCESS = ['main.ts', 'commands/terminal.ts', 'commands/lifetime.ts', 'connect/open-browser.ts'];

interface Import {
  readonly file: string;
  readonly room: string;
  readonly specifier: string;
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

const IMPORTS: readonly Import[] = FILES.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\b[^'";]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
  ];
  return specifiers.map((match) => ({ file, room: roomOf(file), specifier: match[1] ?? match[2] ?? match[3] ?? '' }));
});

function roomOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : file;
}

function targetOf({ file, specifier }: Import): string {
  return relative(SRC, join(SRC, dirname(file), specifier));
}

function within(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

describe('the house', () => {
  it('is read at all', () => {
    expect(FILES.length).toBeGreaterThan(60);
    expect(IMPORTS.length).toBeGreaterThan(200);
  });

  it('has no room that the table does not know', () => {
    const rooms = new Set(FILES.filter((file) => file.includes('/')).map(roomOf));
    expect([...rooms].filter((room) => MAY_IMPORT[room] === undefined)).toEqual([]);
  });

  it('imports only in the directions of the table', () => {
    const broken = IMPORTS.filter((entry) => entry.specifier.startsWith('.') && MAY_IMPORT[entry.room] !== undefined)
      .map((entry) => ({ ...entry, target: targetOf(entry) }))
      .filter(({ room, target }) => !within(target, [room, ...LEAVES, ...(MAY_IMPORT[room] ?? [])]))
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('keeps each dependency in its one home', () => {
    const broken = IMPORTS.filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter(({ file, specifier }) => !within(file, HOMES[packageOf(specifier)] ?? []))
      .map(({ file, specifier }) => `${file} imports ${specifier}`);
    expect(broken).toEqual([]);
  });

  it('touches the process where commands begin and end only', () => {
    const broken = FILES.filter((file) => !PROCESS.includes(file)).filter((file) =>
      /\bprocess\.(env|argv|exit|on|once|stdout|stderr|exitCode)\b/.test(readFileSync(join(SRC, file), 'utf8')),
    );
    expect(broken).toEqual([]);
  });

  it('names no profile outside the config loader', () => {
    const broken = FILES.filter((file) => !file.startsWith('config/')).filter((file) =>
      /\bprofile\s*[!=]==?\s*['"]|['"]profile-?[ab]['"]|\bProfile [AB]\b/i.test(readFileSync(join(SRC, file), 'utf8')),
    );
    expect(broken).toEqual([]);
  });
});

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
