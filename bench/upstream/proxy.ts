import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Goal, goalRows } from '../support/goals.ts';
import { conditions, report, table } from '../support/report.ts';
import { type Measured, median, ratio, spread } from '../support/rounds.ts';
import { goVersion } from './go.ts';
import type { Saturation } from './load/saturate.ts';
import type { Latency } from './load/steady.ts';
import { type Bench, latency, memory, saturation } from './parts.ts';
import { COURSEGATE, coursegate } from './peers/coursegate.ts';
import { direct } from './peers/direct.ts';
import { goProxy } from './peers/go-proxy.ts';
import { hpmExpress } from './peers/hpm-express.ts';
import { nginx } from './peers/nginx.ts';
import { nginxAuthRequestGo, nginxAuthRequestNode } from './peers/nginx-auth-request.ts';
import { NGINX } from './peers/nginx-process.ts';
import type { Peer } from './peers/peer.ts';
import { startUpstream } from './upstream.ts';

const PARTS = ['small', 'large', 'rate', 'half', 'memory', 'cluster', 'routes'] as const;
type Part = (typeof PARTS)[number];

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: PARTS.join(',') },
    peers: { type: 'string', default: '' },
    'no-report': { type: 'boolean', default: false },
  },
});
const asked = new Set(options.only.split(','));
for (const part of asked) {
  if (!PARTS.includes(part as Part)) throw new Error(`--only must be a list of ${PARTS.join(', ')}, not ${part}`);
}

const started = Date.now();
const say = (line: string) =>
  void process.stderr.write(`${String(Math.round((Date.now() - started) / 1000)).padStart(4)} s  ${line}\n`);

/** Selects the peers whose name contains one of `--peers`. coursegate and nginx proxy_pass are always included. */
function present(peers: readonly Peer[]): readonly Peer[] {
  const wanted = options.peers.split(',');
  const always = new Set([COURSEGATE, nginx.name]);
  return peers.filter(({ name, missing }) => {
    if (!always.has(name) && !wanted.some((part) => name.includes(part))) return false;
    if (missing !== undefined) say(`MISSING: ${name} is skipped (${missing})`);
    return missing === undefined;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-'));
const at = conditions();
const gate = coursegate();
const goals: Goal[] = [];
const texts: string[] = [];
const upstream = await startUpstream(folder);
const bench: Bench = {
  context: { folder, upstream, tokens: Array.from({ length: 24 }, () => randomBytes(32).toString('base64url')) },
  effort: options.quick ? { rounds: 2, seconds: 2, streams: 200 } : { rounds: 5, seconds: 4, streams: 1000 },
  say,
};

const cpuOf = (measured: Measured<Saturation>, { name }: Peer) => measured.get(name)?.map(({ cpu }) => cpu);
const p99Of = (measured: Measured<Latency>, { name }: Peer) => measured.get(name)?.map(({ p99 }) => p99) ?? [];

function saturationTable(measured: Measured<Saturation>): string {
  const floor = cpuOf(measured, nginx);
  const rows = [...measured].map(([name, values]) => [
    name,
    spread(values.map(({ cpu }) => cpu)),
    floor === undefined || name === direct.name
      ? ''
      : ratio(
          values.map(({ cpu }) => cpu),
          floor,
        ).toFixed(2),
    name === direct.name
      ? ''
      : ratio(
          cpuOf(measured, gate),
          values.map(({ cpu }) => cpu),
        ).toFixed(2),
    Math.round(median(values.map(({ perSecond }) => perSecond))),
  ]);
  return table(
    ['subject', 'CPU µs per request', 'x nginx proxy_pass', 'coursegate / this', 'requests per second'],
    rows,
  );
}

function latencyTable(measured: Measured<Latency>): string {
  const rows = [...measured].map(([name, values]) => [
    name,
    spread(
      values.map(({ p50 }) => p50),
      2,
    ),
    spread(
      values.map(({ p99 }) => p99),
      2,
    ),
  ]);
  return table(['subject', 'p50 ms', 'p99 ms'], rows);
}

function addedP99(measured: Measured<Latency>): number {
  const floor = p99Of(measured, nginx);
  return median(p99Of(measured, gate).map((value, round) => value - (floor[round] ?? Number.NaN)));
}

async function part(name: Part, title: string, work: () => Promise<string>): Promise<void> {
  if (!asked.has(name)) return;
  say(title);
  const text = await work();
  texts.push(`### ${title}\n\n${text}`);
  process.stdout.write(`\n${text}\n\n`);
}

let ownMaximum = 0;
try {
  await part('small', '1 KiB, one worker', async () => {
    const peers = present([direct, nginx, nginxAuthRequestNode, nginxAuthRequestGo, hpmExpress, goProxy, gate]);
    const measured = await saturation(bench, peers, '/api/bench/k1');
    ownMaximum = median(measured.get(COURSEGATE)?.map(({ perSecond }) => perSecond) ?? []);
    const own = cpuOf(measured, gate);
    const against = (peer: Peer, most: number) =>
      goals.push({
        what: `CPU per request at 1 KiB / ${peer.name}`,
        most,
        unit: ' x',
        measured: ratio(own, cpuOf(measured, peer)),
      });
    against(nginxAuthRequestNode, 1);
    against(nginxAuthRequestGo, 1);
    against(hpmExpress, 0.45);
    against(goProxy, 0.7);
    return saturationTable(measured);
  });
  await part('large', '64 KiB, one worker', async () => {
    const measured = await saturation(
      bench,
      present([nginx, nginxAuthRequestNode, hpmExpress, goProxy, gate]),
      '/api/bench/k64',
    );
    const measuredRatio = ratio(cpuOf(measured, gate), cpuOf(measured, goProxy));
    goals.push({ what: `CPU per request at 64 KiB / ${goProxy.name}`, most: 1.2, unit: ' x', measured: measuredRatio });
    return saturationTable(measured);
  });
  await part('rate', 'Latency at 2,000 requests per second', async () => {
    const peers = present([direct, nginx, nginxAuthRequestNode, hpmExpress, goProxy, gate]);
    const measured = await latency(bench, peers, 2000);
    goals.push({
      what: 'p99 added to nginx proxy_pass at 2,000/s',
      most: 1,
      unit: ' ms',
      measured: addedP99(measured),
    });
    return latencyTable(measured);
  });
  await part('half', 'Latency at half of our maximum', async () => {
    if (ownMaximum === 0) {
      const alone = { ...bench, effort: { ...bench.effort, rounds: 1 } };
      const measured = await saturation(alone, [gate], '/api/bench/k1');
      ownMaximum = median(measured.get(COURSEGATE)?.map(({ perSecond }) => perSecond) ?? []);
    }
    const rate = Math.round(ownMaximum / 2);
    const measured = await latency(bench, present([nginx, nginxAuthRequestNode, gate]), rate);
    goals.push({
      what: 'p99 added to nginx proxy_pass at half of our maximum',
      most: 2,
      unit: ' ms',
      measured: addedP99(measured),
    });
    return `${rate.toLocaleString('en')} requests per second.\n\n${latencyTable(measured)}`;
  });
  await part('memory', 'Memory per idle event stream', async () => {
    const measured = await memory(bench, present([nginx, hpmExpress, goProxy, gate]));
    goals.push({
      what: 'memory per idle event stream',
      most: 34,
      unit: ' KiB',
      measured: measured.get(COURSEGATE)?.each,
    });
    const rows = [...measured].map(([name, { before, each }]) => [name, (before / 1024).toFixed(0), each.toFixed(1)]);
    return `${bench.effort.streams} streams, proportional set size.\n\n${table(['subject', 'before, MiB', 'per stream, KiB'], rows)}`;
  });
  await part('cluster', '1 KiB, two workers', async () =>
    saturationTable(await saturation(bench, present([nginx, hpmExpress, gate]), '/api/bench/k1', 2)),
  );
  await part('routes', '1 KiB, 10 to 1,000 routes', async () => {
    const many = coursegate(1000);
    const measured = await saturation(bench, [gate, coursegate(100), many], '/api/bench/k1');
    const grown = ratio(cpuOf(measured, many), cpuOf(measured, gate));
    goals.push({ what: 'CPU per request with 1,000 routes / with 10', most: 1.05, unit: ' x', measured: grown });
    const rows = [...measured].map(([name, values]) => [
      name === COURSEGATE ? `${name}, 10 routes` : name,
      spread(values.map(({ cpu }) => cpu)),
      ratio(
        values.map(({ cpu }) => cpu),
        cpuOf(measured, gate),
      ).toFixed(2),
    ]);
    return table(['subject', 'CPU µs per request', 'x 10 routes'], rows);
  });
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

const version = (command: string | undefined, args: string[], pattern: RegExp) =>
  command === undefined
    ? 'none'
    : pattern.exec(
        execFileSync('sh', ['-c', `"${command}" ${args.join(' ')} 2>&1 || true`], { encoding: 'utf8' }),
      )?.[1];
const summary = table(['goal', 'at most', 'measured', ''], goalRows(goals));
const text = `${at} nginx ${version(NGINX, ['-v'], /nginx\/(\S+)/)}, Go ${goVersion() ?? 'none'}. ${options.quick ? 'Quick run: a smoke test, not a measurement.' : ''}

\`npm run bench:proxy\`, ${Math.round((Date.now() - started) / 60_000)} minutes. CPU is user and system time of all processes of a subject. Medians (minimum–maximum) of ${bench.effort.rounds} rounds of
${bench.effort.seconds} s in which the subjects take turns; ratios are the medians of each round's ratio. With one worker, the subject has CPU 0, and the
load generator and the upstream share CPU 1. 48 keep-alive connections, plain HTTP/1.1 over loopback. coursegate is \`serve\` with default
settings, except that its limits are counted but too high to be reached: real tokens from real approvals, embedded store, identity
headers and a cached assertion, metrics, and the access log in a file. nginx auth_request also passes the identity on and writes a
JSON log; the others write none. Two workers are \`node:cluster\` with one Redis.

${texts.join('\n\n')}

### Goals

${summary}`;
if (options['no-report']) process.stdout.write(`\n${summary}\n`);
else report('Proxy', text);
