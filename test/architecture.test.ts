import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const CONTRIBUTING = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8');
const SRC = fileURLToPath(new URL('../src', import.meta.url));

/**
 * The modules of `src`, from the bottom to the top, and which others each may import. A module may import only modules
 * above it in this table, so nothing is imported upwards and there is no cycle. Every module may import itself and LEAVES.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  oauth: [],
  http: ['oauth'],
  passwords: [],
  // The hash of a member's password is checked where it is written, with its line.
  config: ['oauth', 'passwords'],
  storage: ['config'],
  upstream: ['oauth', 'config'],
  operations: ['oauth', 'config', 'storage'],
  limits: ['oauth', 'config', 'storage'],
  'resource-server': ['oauth', 'config', 'storage'],
  login: ['oauth', 'config', 'upstream', 'storage', 'passwords'],
  // Asks as the login's recheck does.
  roles: ['oauth', 'config', 'upstream', 'login'],
  events: ['oauth', 'config', 'storage', 'upstream'],
  account: ['oauth', 'config', 'upstream'],
  // Calls that wait for their member, of tools and of routes.
  approvals: ['oauth', 'config', 'storage', 'upstream'],
  // Storage, because a call with an idempotency key is remembered for all replicas.
  mcp: ['oauth', 'config', 'upstream', 'storage', 'roles', 'account/prepared-operation.ts', 'approvals'],
  discovery: ['oauth', 'config'],
  // Events are written in the same commit as the change they report. Members approve calls on one of its pages.
  'authorization-server': ['oauth', 'config', 'storage', 'login', 'upstream', 'roles', 'events', 'approvals'],
  // What operators can do, for the admin listener, the command line and the console.
  actions: ['oauth', 'storage', 'authorization-server'],
  // What its parts share. Texts are YAML beside the code.
  operator: ['config/plain-yaml.ts'],
  // Loaded with the first request for one of its pages.
  'operator/console': [
    'operator',
    'oauth',
    'config',
    'storage',
    'operations',
    'events',
    'authorization-server',
    'actions',
  ],
  foundation: ['config', 'storage', 'operations', 'authorization-server'],
  request: [
    'oauth',
    'config',
    'upstream',
    'limits',
    'operations',
    'resource-server',
    'roles',
    'authorization-server',
    'approvals',
    'mcp',
    'discovery',
  ],
  // Decides for gateways that forward requests themselves, by the steps of a request.
  decisions: ['oauth', 'config', 'upstream', 'operations', 'request'],
  generation: [
    'oauth',
    'config',
    'storage',
    'upstream',
    'decisions',
    'operations',
    'limits',
    'resource-server',
    'login',
    'roles',
    'events',
    'account',
    'approvals',
    'mcp',
    'discovery',
    'authorization-server',
    'actions',
    'operator/console',
    'foundation',
    'request',
  ],
  process: [
    'config',
    'storage',
    'upstream',
    'operations',
    'resource-server',
    'login/open-login.ts',
    'mcp',
    'authorization-server',
    'foundation',
    'request',
    'decisions',
    'generation',
  ],
  // What operators try things with. `doctor` and `connect` know nothing of the gate but what the standards say.
  'operator/connect': [],
  'operator/doctor': [
    'operator',
    'operator/connect',
    'oauth/member-details.ts',
    'mcp/tool-verbs.ts',
    'config',
    // For the checks from the gate's side, which call the backend as the gate does.
    'upstream',
    'login',
    'authorization-server/client-documents',
    'process/discovery-documents.ts',
  ],
  'operator/setup': [
    'operator',
    'operator/connect',
    'operator/doctor',
    'config',
    'operations',
    'upstream',
    'request/public-paths.ts',
    'request/cors.ts',
    'decisions/protocol.ts',
    'decisions/fingerprint.ts',
    'process/discovery-documents.ts',
  ],
  'operator/demo': ['operator/connect', 'config', 'storage', 'process/gateway.ts'],
  // What is typed: it starts the work of other modules, and none of them knows it.
  commands: [
    'config',
    'passwords',
    'storage',
    'operations',
    'login',
    'events',
    'account',
    'mcp',
    'authorization-server/administration',
    'actions',
    'operator/console/link.ts',
    'generation/interfaces.ts',
    'process',
    'operator',
    'operator/connect',
    'operator/doctor',
    'operator/setup',
    'operator/demo',
  ],
};

/** The modules are folders; these files alone are at the root. */
const ROOT_FILES = ['main.ts', 'errors.ts', 'installation.ts'];

const LEAVES = [
  '../package.json',
  'errors.ts',
  // Where the product's own files are.
  'installation.ts',
  'http',
  'operations/log.ts',
  'operations/audit.ts',
  'operations/log-throttle.ts',
];

/** Each dependency is imported in one place. A package that is not listed may not be imported. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  'oidc-provider': ['authorization-server'],
  // In the gate because the JWT of a DPoP proof is checked there (RFC 9449 §4.3), at every door.
  jose: [
    'resource-server/dpop.ts',
    'authorization-server/signing-key.ts',
    'authorization-server/provider.ts',
    // Reads the subject of an `id_token_hint` that oidc-provider has verified.
    'authorization-server/interactions/obstacle.ts',
    'upstream/identity.ts',
    // What others sign of who signed in there.
    'login/signed-token',
    'login/oidc/discovery.ts',
    'operator/demo/school',
  ],

  pg: ['login/database/postgres.ts', 'storage/sql/drivers.ts', 'storage/sql/postgres.ts'],
  mysql2: ['login/database/mysql.ts', 'storage/sql/drivers.ts', 'storage/sql/mysql.ts'],
  undici: ['upstream'],
  graphql: ['account', 'operator/demo/school'],
  '@graphql-tools/merge': ['account/contract.ts'],
  yaml: ['config'],
  mustache: ['http/template.ts'],
  re2js: ['config/pattern.ts'],
  // The other two read the data of presets.
  zod: ['config', 'operator/setup/init/evidence.ts', 'operator/setup/init/preset-file.ts'],
  pino: ['operations/log.ts'],
  'prom-client': ['operations/meters.ts'],
  '@modelcontextprotocol/server': ['mcp'],
  'lru-cache': [
    'resource-server/cache.ts',
    'roles/member-roles.ts',
    'mcp/tool-server/connections.ts',
    'upstream',
    'account',
    'authorization-server/client-documents',
    'storage/memory-counters.ts',
    'storage/seal.ts',
    'operator/demo/client/app.ts',
  ],
  'rate-limiter-flexible': ['storage/redis/counters.ts'],
  // Texts in the results of tools are read as clients would read them: as Markdown, and as HTML. auth.md is shown as HTML.
  '@lezer/markdown': ['mcp/markdown.ts', 'discovery/auth-md/markdown-html.ts'],
  entities: ['account/connect/methods.ts', 'operator/setup/init/discoveries.ts'],
  parse5: ['login/form/login-page.ts', 'mcp/html.ts', 'mcp/settings-cards.ts', 'mcp/html-elements.ts', 'mcp/urls.ts'],
  bcryptjs: ['passwords/bcrypt-thread.ts'],
  // Charts of the console, which are drawn as SVG on the server.
  'd3-array': ['operator/console/traffic/chart.ts'],
  'd3-scale': ['operator/console/traffic/chart.ts'],
  'd3-shape': ['operator/console/traffic/chart.ts'],
  negotiator: ['authorization-server/pages/language.ts'],
  commander: ['commands'],
  ioredis: [
    'storage/redis/redis-store.ts',
    'storage/redis/connection.ts',
    'storage/redis/start.ts',
    'storage/redis/target.ts',
  ],
  oauth4webapi: ['login/oidc', 'operator/connect/oauth', 'operator/doctor/challenges.ts'],
  // The plain HTTP of the admin listener. The gate's own path is not Express.
  express: ['operations/admin.ts', 'actions/router.ts', 'operator/console', 'operator/demo'],
  ws: ['operator/demo/school'],
};

/** What may touch the process it runs in: what reads the command line, prints, and ends. */
const PROCESS = [
  'commands/program.ts',
  'commands/terminal.ts',
  'commands/lifetime.ts',
  'operator/connect/open-browser.ts',
  // The name to type depends on how the program was started.
  'operator/program-name.ts',
];

interface Import {
  readonly file: string;
  readonly module: string;
  readonly specifier: string;
}

/** Settings stand with what they set, and are read with the configuration. */
const SETTINGS = /^(?:login\/kinds|[\w/-]+\/settings(?:-\w+)?)\.ts$/;
/** The doctor's checks of one way to sign in stand with it. */
const CHECKS = /^login\/[\w-]+\/checks\.ts$/;

/** What opens a part of the gate stands with it, and belongs to the generation, which calls it. */
const PART = /^[\w/-]+\/part\.ts$/;

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

const IMPORTS: readonly Import[] = FILES.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\b[^'";]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
  ];
  return specifiers.map((match) => ({
    file,
    module: moduleOf(file),
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
  }));
});

function moduleOf(file: string): string {
  if (SETTINGS.test(file)) return 'config';
  if (CHECKS.test(file)) return 'operator/doctor';
  if (PART.test(file)) return 'generation';
  const [folder = '', inner, ...below] = file.split('/');
  if (inner === undefined) return file;
  return folder === 'operator' && (below.length > 0 || !inner.endsWith('.ts')) ? `operator/${inner}` : folder;
}

function targetOf({ file, specifier }: Import): string {
  return relative(SRC, join(SRC, dirname(file), specifier));
}

function within(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

describe('the layout of src', () => {
  it('is found', () => {
    expect(FILES.length).toBeGreaterThan(60);
    expect(IMPORTS.length).toBeGreaterThan(200);
  });

  it('has every file in a module, except for the entry point and two that all of them use', () => {
    expect(FILES.filter((file) => MAY_IMPORT[moduleOf(file)] === undefined && !ROOT_FILES.includes(file))).toEqual([]);
    expect(Object.keys(MAY_IMPORT).filter((module) => !FILES.some((file) => moduleOf(file) === module))).toEqual([]);
    expect(Object.keys(MAY_IMPORT).length).toBeLessThanOrEqual(30);
  });

  it('is described in CONTRIBUTING.md', () => {
    const order = Object.keys(MAY_IMPORT);
    const quoted = (paths: readonly string[]) => paths.map((path) => `\`${path}\``).join(', ');
    const rows = Object.entries(MAY_IMPORT).map(([module, others]) => {
      const above = order.slice(0, order.indexOf(module)).filter((other) => other !== 'http');
      const missing = above.filter((other) => !others.includes(other));
      const files = others.filter(
        (other) => other.endsWith('.ts') || missing.some((one) => other.startsWith(`${one}/`)),
      );
      const all = others.length > 9 && missing.length < others.length;
      const but =
        missing.length === 0
          ? ''
          : ` but ${quoted(missing)}${files.length === 0 ? '' : ` (and of these only ${quoted(files)})`}`;
      const allowed = all ? `all above${but}` : quoted(others) || 'nothing';
      return [module, allowed];
    });
    const described = [...CONTRIBUTING.matchAll(/^\| `([\w/-]+)` \| [^|]+ \| ([^|]+) \|$/gm)];
    expect(described.map(([, module, allowed]) => [module, allowed])).toEqual(rows);
  });

  it('has no upward imports, and therefore no cycles', () => {
    const order = Object.keys(MAY_IMPORT);
    const upwards = Object.entries(MAY_IMPORT).flatMap(([module, others]) =>
      others
        .filter((other) => !order.slice(0, order.indexOf(module)).includes(moduleOf(other)))
        .map((other) => `${module} imports ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  it('has no circle of files, not even of types', () => {
    const imported = new Map<string, string[]>(FILES.map((file) => [file, []]));
    for (const entry of IMPORTS) if (entry.specifier.startsWith('.')) imported.get(entry.file)?.push(targetOf(entry));
    // What imports nothing that is left is taken away, until only circles and what imports them are left.
    for (let size = Number.POSITIVE_INFINITY; imported.size < size; ) {
      size = imported.size;
      for (const [file, targets] of imported)
        if (!targets.some((target) => imported.has(target))) imported.delete(file);
    }
    expect([...imported.keys()]).toEqual([]);
  });

  it('has only imports that the table allows', () => {
    const broken = IMPORTS.filter((entry) => entry.specifier.startsWith('.') && MAY_IMPORT[entry.module] !== undefined)
      .map((entry) => ({ ...entry, target: targetOf(entry) }))
      .filter(({ module, target }) => {
        const allowed = [module, ...LEAVES, ...(MAY_IMPORT[module] ?? [])];
        return !within(target, allowed) && !allowed.includes(moduleOf(target));
      })
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('lets only commands, a generation and the process of many schools import what operators look at and try', () => {
    const importers = IMPORTS.filter((entry) => within(targetOf(entry), ['operator'])).map(({ module }) => module);
    const others = importers.filter((module) => !module.startsWith('operator'));
    expect([...new Set(others)].sort()).toEqual(['commands', 'generation', 'process']);
    const files = IMPORTS.filter((entry) => entry.module === 'process' && within(targetOf(entry), ['operator']));
    expect(files.map(targetOf)).toEqual(['operator/console/schools/part.ts']);
  });

  it('lets the command line load the rows of actions without the gate', () => {
    const rows = FILES.filter((file) => file.startsWith('actions/') && file !== 'actions/router.ts');
    const loaded = rows.flatMap((file) =>
      [...readFileSync(join(SRC, file), 'utf8').matchAll(/^import (?!type\b)[^'";]*?\bfrom '([^']+)'/gm)].map(
        ([, specifier = '']) => targetOf({ file, module: 'actions', specifier }),
      ),
    );
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.filter((target) => !within(target, ['actions', 'errors.ts', 'http', 'oauth']))).toEqual([]);
  });

  it('exports no type twice under one name', () => {
    const exported = FILES.flatMap((file) =>
      [...readFileSync(join(SRC, file), 'utf8').matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(
        ([, name = '']) => name,
      ),
    );
    expect(exported.length).toBeGreaterThan(500);
    expect(exported.filter((name, index) => exported.indexOf(name) !== index)).toEqual([]);
  });

  it('keeps doctor and connect separate from the gate', () => {
    // Which addresses are public is said by IANA, and how text is escaped by HTML, not by the gate. What they read is
    // bounded in one place, and the pages they name and their texts are installed with them. What a verb says is English.
    const others = [
      '../package.json',
      'installation.ts',
      'http/public-address.ts',
      'http/colour.ts',
      'http/html.ts',
      'http/palette.ts',
      'http/bounded-client.ts',
      'http/amounts.ts',
      'http/bounded-json.ts',
      'http/host.ts',
      'http/json-object.ts',
      'http/listen.ts',
      'http/once.ts',
      'http/same-secret.ts',
      'mcp/tool-verbs.ts',
      'operator/texts.ts',
      'operator/usage-error.ts',
    ];
    const broken = IMPORTS.filter(
      ({ file, specifier }) =>
        // `doctor --config` examines a backend from the gate's side.
        /^operator\/(doctor\/(?!backend\/)|connect\/)/.test(file) && specifier.startsWith('.'),
    )
      .map((entry) => ({ ...entry, target: targetOf(entry) }))
      .filter(({ target }) => !within(target, ['operator/doctor', 'operator/connect', ...others]))
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('uses each dependency in one place only', () => {
    const broken = IMPORTS.filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter(({ file, module, specifier }) => {
        const homes = HOMES[packageOf(specifier)] ?? [];
        return !within(file, homes) && !homes.includes(module);
      })
      .map(({ file, specifier }) => `${file} imports ${specifier}`);
    expect(broken).toEqual([]);
  });

  it('accesses the process only where commands start and end', () => {
    const broken = FILES.filter((file) => !PROCESS.includes(file)).filter((file) =>
      /\bprocess\.(env|argv|exit|on|once|stdout|stderr|exitCode)\b/.test(readFileSync(join(SRC, file), 'utf8')),
    );
    expect(broken).toEqual([]);
  });

  it('finds its own files in one place, because a bundle and the single binary keep them elsewhere', () => {
    const finds = /\bimport\.meta\b|\b__(?:dirname|filename)\b|\bnew Worker\(|\bcreateRequire\b/;
    expect(FILES.filter((file) => finds.test(readFileSync(join(SRC, file), 'utf8')))).toEqual(['installation.ts']);
  });

  it('has no top-level await, which CommonJS does not have', () => {
    const awaits = /^(?:await\b|(?:export )?(?:const|let) [^\n]*= await\b|for await\b|try \{\n {2}await\b)/m;
    expect(FILES.filter((file) => awaits.test(readFileSync(join(SRC, file), 'utf8')))).toEqual([]);
  });

  it('names no profile outside the configuration loader', () => {
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
