import { table } from '../support/report.ts';

export type StoreKind = 'sqlite' | 'redis';
const STORE_KINDS: readonly StoreKind[] = ['sqlite', 'redis'];

/** Records of the store. A connected app has one registration and one grant of one member. */
export const RECORDS = ['Client', 'RegistrationAccessToken', 'Member', 'Grant', 'RefreshToken', 'AccessToken'] as const;
export type RecordKind = (typeof RECORDS)[number];

const OPERATIONS = ['request', 'refresh', 'signIn', 'introspection'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** CPU time of one operation, in microseconds. */
interface OperationCost {
  readonly gate: number;
  /** Of Redis; 0 with the embedded store. */
  readonly redis: number;
}

/** What `npm run bench -- capacity` measures, and everything below is derived from. */
export interface Parts {
  readonly conditions: string;
  /** What speaks against these figures; empty if nothing does. */
  readonly objections: readonly string[];
  readonly bytes: Readonly<Record<StoreKind, Readonly<Record<RecordKind, number>>>>;
  readonly cpu: Readonly<Record<StoreKind, Readonly<Record<Operation, OperationCost>>>>;
  /** Calls of fsync and fdatasync of one operation on the embedded store. */
  readonly syncs: Readonly<Record<'refresh' | 'signIn', number>>;
  /** Milliseconds that one takes. */
  readonly syncTime: number;
  /** KiB of the gate: one idle connection, one idle event stream. */
  readonly connection: number;
  readonly stream: number;
}

// What connected apps do: assumptions, to be replaced by your own.
const REQUESTS_PER_APP_AND_DAY = 20;
/** The times a day that an app is used, after the access token of the last time has expired. */
const SESSIONS_PER_APP_AND_DAY = 2;
const SESSION_MINUTES = 10;
/** Requests in the busiest second of a day, to those in an average second. */
const PEAK_TO_MEAN = 4;
/** How long an app stays connected before its member signs in and approves it again. */
const CONNECTED_DAYS = 90;
const INTROSPECTIONS_PER_REQUEST = 0.05;
/** Shares of the apps that hold an idle connection, or an event stream, at the busiest time. */
const CONNECTED_SHARE = 0.02;
const STREAM_SHARE = 0.005;

// The default of `tokens.access`.
const ACCESS_TOKEN_MINUTES = 10;
// What a machine carries.

/** The share of a CPU or of a disk's time that may be used in the busiest second. */
const UTILISATION = 0.6;
const CORES = 8;
const MEMORY_GIB = 64;
/** Redis needs as much memory again while it rewrites its file. */
const REDIS_MEMORY_SHARE = 0.5;

const DAY = 86_400;
const SIZES = [1e6, 1e7, 1e8] as const;
const GIB = 2 ** 30;

const REFRESHES_PER_APP_AND_DAY = SESSIONS_PER_APP_AND_DAY * Math.ceil(SESSION_MINUTES / ACCESS_TOKEN_MINUTES);

/** What one connected app causes, per second at the busiest time. */
const RATES: Readonly<Record<Operation, number>> = peakRates();

function peakRates(): Record<Operation, number> {
  const perSecond = (perDay: number) => (perDay / DAY) * PEAK_TO_MEAN;
  return {
    request: perSecond(REQUESTS_PER_APP_AND_DAY),
    refresh: perSecond(REFRESHES_PER_APP_AND_DAY),
    signIn: perSecond(1 / CONNECTED_DAYS),
    introspection: perSecond(REQUESTS_PER_APP_AND_DAY * INTROSPECTIONS_PER_REQUEST),
  };
}

/** Access tokens in the store per connected app, at the busiest time. */
const ACCESS_TOKENS_PER_APP = (REFRESHES_PER_APP_AND_DAY * ACCESS_TOKEN_MINUTES * PEAK_TO_MEAN) / (DAY / 60);

/** Bytes of the store per connected app, however often it was refreshed. */
export function storedPerApp({ AccessToken, ...kept }: Readonly<Record<RecordKind, number>>): number {
  return Object.values(kept).reduce((sum, bytes) => sum + bytes, 0) + AccessToken * ACCESS_TOKENS_PER_APP;
}

/** CPUs that one connected app needs at the busiest time. */
function cpuPerApp(costs: Readonly<Record<Operation, OperationCost>>, of: keyof OperationCost): number {
  return OPERATIONS.reduce((sum, operation) => sum + (RATES[operation] * costs[operation][of]) / 1e6, 0);
}

/** KiB of gates that one connected app needs at the busiest time. */
function memoryPerApp({ connection, stream }: Parts): number {
  return CONNECTED_SHARE * connection + STREAM_SHARE * stream;
}

/** A resource, and the number of connected apps it carries. */
interface Limit {
  readonly what: string;
  readonly apps: number;
}

interface Setup {
  readonly name: string;
  readonly limits: readonly Limit[];
}

/** The three setups, each with what limits it. */
export function setups(parts: Parts): readonly Setup[] {
  const { bytes, cpu, syncs, syncTime } = parts;
  const syncShare = ((RATES.refresh * syncs.refresh + RATES.signIn * syncs.signIn) * syncTime) / 1000;
  const gateMemory = { what: 'memory of the connections', apps: (MEMORY_GIB * GIB) / (memoryPerApp(parts) * 1024) };
  const redis = [
    { what: 'the core of Redis', apps: UTILISATION / cpuPerApp(cpu.redis, 'redis') },
    {
      what: 'the memory of Redis',
      apps: (MEMORY_GIB * GIB * REDIS_MEMORY_SHARE) / storedPerApp(bytes.redis),
    },
  ];
  return [
    {
      name: 'one gate, embedded store',
      limits: [
        { what: "the gate's core", apps: UTILISATION / cpuPerApp(cpu.sqlite, 'gate') },
        { what: 'fsync of the disk', apps: UTILISATION / syncShare },
        gateMemory,
      ],
    },
    {
      name: `one machine of ${CORES} cores: ${CORES - 1} gates and Redis`,
      limits: [
        { what: 'the cores of the gates', apps: ((CORES - 1) * UTILISATION) / cpuPerApp(cpu.redis, 'gate') },
        ...redis,
        gateMemory,
      ],
    },
    { name: 'one Redis, any number of gates', limits: redis },
  ];
}

const kilobytes = (bytes: Parts['bytes'][StoreKind]) => `${(storedPerApp(bytes) / 1024).toFixed(1)} KiB`;

const rounded = (value: number) =>
  value < 1 ? value.toPrecision(1) : Number(value.toPrecision(2)).toLocaleString('en');

function limitsTable(parts: Parts): string {
  const rows = setups(parts).map(({ name, limits }) => {
    const [first, ...others] = limits.toSorted((a, b) => a.apps - b.apps);
    const told = ({ what, apps }: Limit) => `${rounded(apps / 1e6)} million by ${what}`;
    return [name, first === undefined ? '' : told(first), others.map(told).join(', ')];
  });
  return table(['Setup', 'Carries', 'Next limits'], rows);
}

function demandTable(parts: Parts): string {
  const { bytes, cpu } = parts;
  const columns = SIZES.map((apps) => {
    const firstLimit = ({ limits }: Setup) => {
      const [least] = limits.toSorted((a, b) => a.apps - b.apps);
      return least === undefined || least.apps >= apps
        ? 'none'
        : `${least.what}, ${rounded(apps / least.apps)} times over`;
    };
    return [
      rounded(apps * RATES.request),
      rounded(apps * RATES.refresh),
      rounded(apps * RATES.signIn),
      rounded((apps * cpuPerApp(cpu.redis, 'gate')) / UTILISATION),
      rounded((apps * cpuPerApp(cpu.redis, 'redis')) / UTILISATION),
      `${rounded((apps * storedPerApp(bytes.sqlite)) / GIB)} GiB`,
      `${rounded((apps * storedPerApp(bytes.redis)) / GIB)} GiB`,
      `${rounded((apps * memoryPerApp(parts)) / 2 ** 20)} GiB`,
      ...setups(parts).map(firstLimit),
    ];
  });
  const names = [
    'requests per second, busiest time',
    'refreshes per second',
    'sign-ins per second',
    'cores for gates',
    'cores for Redis',
    'file of the embedded store',
    'memory of Redis',
    'memory for connections and streams',
    ...setups(parts).map(({ name }) => `first bottleneck: ${name}`),
  ];
  const heads = ['Connected apps', ...SIZES.map((apps) => `${apps / 1e6} million`)];
  return table(
    heads,
    names.map((name, at) => [name, ...columns.map((column) => column[at] ?? '')]),
  );
}

function partsTable({ bytes, cpu }: Parts): string {
  const rows = STORE_KINDS.map((kind) => [
    kind === 'sqlite' ? 'embedded store' : 'Redis',
    ...OPERATIONS.map((operation) => {
      const { gate, redis } = cpu[kind][operation];
      return `${rounded(gate)}${kind === 'redis' ? ` + ${rounded(redis)}` : ''} µs`;
    }),
    ...RECORDS.map((record) => `${Math.round(bytes[kind][record])} B`),
  ]);
  return table(['', 'request', 'refresh', 'sign-in', 'introspection', ...RECORDS], rows);
}

/** The section of docs/scaling.md. */
export function capacitySection(parts: Parts): string {
  const busy =
    parts.objections.length === 0
      ? ''
      : `\n\n**The machine was not quiet.** What speaks against this run:\n\n${parts.objections.map((line) => `- ${line}`).join('\n')}\n\nThe sizes are reliable; the CPU times and the time of an fsync may be too high, so take the number of apps that a CPU or a disk carries as a\nrough lower bound.`;
  return `No site in use has a million connected apps. The tables below multiply parts that were measured one by one with the
assumptions after them; \`npm run bench -- capacity\` measures the parts again and rewrites this section.

${limitsTable(parts)}

${demandTable(parts)}

A connected app is one grant of one member, with a registration of its own. The assumptions are constants in
[model.ts](../bench/capacity/model.ts): ${REQUESTS_PER_APP_AND_DAY} requests per app and day, in ${SESSIONS_PER_APP_AND_DAY} sessions of up to ${SESSION_MINUTES} minutes; the busiest second has
${PEAK_TO_MEAN} times the average; an approval lasts ${CONNECTED_DAYS} days; ${INTROSPECTIONS_PER_REQUEST * 100} % of requests are introspected by a backend; at the busiest time ${CONNECTED_SHARE * 100} % of
the apps hold a connection and ${STREAM_SHARE * 100} % an event stream. Access tokens live ${ACCESS_TOKEN_MINUTES} minutes, the default, and
are then deleted; the refresh tokens of an app are one record, with the response to the last refresh. So a connected app takes
${kilobytes(parts.bytes.sqlite)} of the embedded store and ${kilobytes(parts.bytes.redis)} of Redis, however often it refreshed. A core or a disk is planned to be busy for ${UTILISATION * 100} % of the
busiest second, a machine has ${CORES} cores and ${MEMORY_GIB} GiB, and Redis may fill half of it.

The parts, with the CPU time of Redis after the plus sign: CPU time of an operation, and bytes of a stored record.

${partsTable(parts)}

A refresh waits for ${rounded(parts.syncs.refresh)} fsync on the embedded store and a sign-in with its approval for ${rounded(parts.syncs.signIn)}, ${parts.syncTime.toFixed(2)} ms each here. An idle
connection takes ${rounded(parts.connection)} KiB of the gate and an idle event stream ${rounded(parts.stream)} KiB. ${parts.conditions}${busy}

Never run: more than a million connected apps in one store, more than 9,000 streams at one gate, more than three gates
on one store, and any of this over a real network or TLS. The model leaves out rate limits, audit volume, backups of a file of that
size, failover, and what your backend takes.`;
}

const [BEGIN, END] = ['<!-- capacity: written by npm run bench -- capacity -->', '<!-- end of capacity -->'];

/** docs/scaling.md with the section replaced. */
export function withCapacity(page: string, parts: Parts): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no place for the section: ${BEGIN}`);
  return `${before}${BEGIN}\n\n${capacitySection(parts)}\n\n${END}${after}`;
}
