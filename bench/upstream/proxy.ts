import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import type { Measurements } from '../support/goals.ts';
import { table } from '../support/report.ts';
import { bench as benchmark, type Findings, OPTIONS } from '../support/run.ts';
import { type Estimate, estimate, median, ratio, shown } from '../support/statistics.ts';
import { toolPath } from '../support/tools.ts';
import type { Measured } from '../support/turns.ts';
import { goVersion } from './go.ts';
import { allocations } from './load/allocations.ts';
import { countersMissing } from './load/counters.ts';
import type { Saturation } from './load/saturate.ts';
import type { Latency } from './load/steady.ts';
import { type Bench, eachAlone, latency, memory, saturation } from './parts.ts';
import { COURSEGATE, coursegate, coursegateAgain } from './peers/coursegate.ts';
import { direct } from './peers/direct.ts';
import { goProxy } from './peers/go-proxy.ts';
import { hpmExpress } from './peers/hpm-express.ts';
import { nginx } from './peers/nginx.ts';
import { nginxAuthRequestGo, nginxAuthRequestNode } from './peers/nginx-auth-request.ts';
import { nginxDecisions } from './peers/nginx-decisions.ts';
import type { Peer } from './peers/peer.ts';
import { startUpstream } from './upstream.ts';

const PARTS = ['small', 'large', 'allocation', 'rate', 'half', 'memory', 'cluster', 'routes'] as const;
type Part = (typeof PARTS)[number];

const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    only: { type: 'string', default: PARTS.join(',') },
    peers: { type: 'string', default: '' },
    streams: { type: 'string', default: '1000' },
  },
});
const asked = new Set(options.only.split(','));
for (const part of asked) {
  if (!PARTS.includes(part as Part)) throw new Error(`--only must be a list of ${PARTS.join(', ')}, not ${part}`);
}

const gate = coursegate();
/** Peers of two processes. */
const WITH_SERVICE: readonly Peer[] = [nginxAuthRequestNode, nginxAuthRequestGo, nginxDecisions];

/** Selects the peers whose name contains one of `--peers`. Ours and nginx proxy_pass are always included. */
function chosen(peers: readonly Peer[]): readonly Peer[] {
  const wanted = options.peers.split(',');
  return peers.filter(
    ({ name }) => name.startsWith(COURSEGATE) || name === nginx.name || wanted.some((part) => name.includes(part)),
  );
}

const cpuOf = (measured: Measured<Saturation>, { name }: Peer) => measured.get(name)?.map(({ cpu }) => cpu);
/** The same for one process of the peer. */
const cpuWithin = (measured: Measured<Saturation>, { name }: Peer, at: number) =>
  measured.get(name)?.map(({ each }) => each[at] ?? Number.NaN);
const costRatio = (measured: Measured<Saturation>, peer: Peer) => ratio(cpuOf(measured, gate), cpuOf(measured, peer));

/** What each process of a peer had of the CPU time; '' if there is only one. */
function byProcess(measured: Measured<Saturation>, peer: Peer | undefined): string {
  return (peer?.processes ?? [])
    .map((process, at) => `${process} ${median(cpuWithin(measured, peer as Peer, at) ?? []).toFixed(1)}`)
    .join(', ');
}

function saturationTable(measured: Measured<Saturation>): string {
  const rows = [...measured].map(([name, values]) => {
    const own = values.map(({ cpu }) => cpu);
    const proxied = name !== direct.name;
    return [
      name,
      shown(estimate(own)),
      byProcess(
        measured,
        WITH_SERVICE.find((peer) => peer.name === name),
      ),
      proxied ? shown(ratio(own, cpuOf(measured, nginx)), 2) : '',
      proxied ? shown(ratio(cpuOf(measured, gate), own), 2) : '',
      Math.round(median(values.map(({ perSecond }) => perSecond))),
      ...counted.map((of) => Math.round(median(values.map(of)))),
    ];
  });
  const costs = ['subject', 'CPU µs per request', 'by process', 'x nginx proxy_pass', 'coursegate / this'];
  const counts = counted.length === 0 ? [] : ['instructions per request', 'cache misses per request'];
  return table([...costs, 'requests per second', ...counts], rows);
}

/** What the CPU counts, if it can be read. */
const counted: readonly ((of: Saturation) => number)[] =
  countersMissing === undefined ? [({ instructions }) => instructions, ({ cacheMisses }) => cacheMisses] : [];

function latencyTable(measured: Measured<Latency>): string {
  const rows = [...measured].map(([name, values]) => [
    name,
    shown(estimate(values.map(({ p50 }) => p50)), 2),
    shown(estimate(values.map(({ p99 }) => p99)), 2),
    shown(addedP99(measured, name), 2),
    shown(estimate(values.map(({ cpu }) => cpu))),
  ]);
  return table(['subject', 'p50 ms', 'p99 ms', 'p99 added to nginx, ms', 'CPU µs per request'], rows);
}

function addedP99(measured: Measured<Latency>, name: string, to = nginx.name): Estimate {
  const floor = measured.get(to) ?? [];
  const added = (measured.get(name) ?? []).map(({ p99 }, round) => p99 - (floor[round]?.p99 ?? Number.NaN));
  // If neither kept up with the rate, there is no difference.
  return estimate(added.map((value, round) => (floor[round]?.p99 === Number.POSITIVE_INFINITY ? 0 : value)));
}

async function measure(bench: Bench): Promise<Findings> {
  const { run } = bench;
  const goals: Measurements = {};
  const texts: string[] = [];
  let ownMaximum = 0;
  const part = async (name: Part, title: string, work: () => Promise<string>): Promise<void> => {
    if (!asked.has(name)) return;
    run.say(title);
    texts.push(`### ${title}\n\n${await work()}`);
  };
  const maximumOf = (measured: Measured<Saturation>) =>
    median(measured.get(COURSEGATE)?.map((one) => one.perSecond) ?? []);

  await part('small', '1 KiB, one worker', async () => {
    const others = [direct, nginx, nginxAuthRequestNode, nginxAuthRequestGo, hpmExpress, goProxy];
    const peers = [...others, nginxDecisions, gate, coursegateAgain];
    const measured = await saturation(bench, '1 KiB', chosen(peers), '/api/bench/k1');
    ownMaximum = maximumOf(measured);
    goals.smallToNginxNode = costRatio(measured, nginxAuthRequestNode);
    goals.pluginSmall = ratio(cpuOf(measured, nginxDecisions), cpuOf(measured, nginxAuthRequestNode));
    goals.pluginGate = ratio(cpuWithin(measured, nginxDecisions, 0), cpuOf(measured, gate));
    goals.smallToHpm = costRatio(measured, hpmExpress);
    goals.smallToGo = costRatio(measured, goProxy);
    return saturationTable(measured);
  });
  await part('large', '64 KiB, one worker', async () => {
    const peers = [nginx, nginxAuthRequestNode, hpmExpress, goProxy, nginxDecisions, gate, coursegateAgain];
    const measured = await saturation(bench, '64 KiB', chosen(peers), '/api/bench/k64');
    goals.largeToGo = costRatio(measured, goProxy);
    goals.largeToNginxNode = costRatio(measured, nginxAuthRequestNode);
    goals.pluginLarge = ratio(cpuOf(measured, nginxDecisions), cpuOf(measured, nginxAuthRequestNode));
    return saturationTable(measured);
  });
  await part('allocation', 'Allocation for a request of 1 KiB', async () => {
    const rows = await eachAlone(bench, chosen([hpmExpress, gate, coursegateAgain]), async (subject) => {
      const { bytes, sites } = await allocations(subject, '/api/bench/k1', 5, run.folder);
      const ofNode = sites.reduce((sum, { name, bytes: of }) => sum + (name.includes(' node:') ? of : 0), 0);
      return [subject.name, Math.round(bytes), Math.round(ofNode)];
    });
    return `Bytes on V8's heap, sampled.\n\n${table(['subject', 'bytes', 'by Node’s own code'], rows)}`;
  });
  await part('rate', 'Latency at 2,000 requests per second', async () => {
    const peers = [direct, nginx, nginxAuthRequestNode, hpmExpress, goProxy, nginxDecisions, gate, coursegateAgain];
    const measured = await latency(bench, '2,000/s', chosen(peers), 2000);
    goals.p99AtRate = addedP99(measured, COURSEGATE);
    goals.pluginP99 = addedP99(measured, nginxDecisions.name, nginxAuthRequestNode.name);
    return latencyTable(measured);
  });
  await part('half', 'Latency at half of our maximum', async () => {
    if (ownMaximum === 0) ownMaximum = maximumOf(await saturation(bench, 'our maximum', [gate], '/api/bench/k1'));
    const rate = Math.round(ownMaximum / 2);
    const measured = await latency(
      bench,
      'half of our maximum',
      chosen([nginx, nginxAuthRequestNode, gate, coursegateAgain]),
      rate,
    );
    goals.p99AtHalf = addedP99(measured, COURSEGATE);
    return `${rate.toLocaleString('en')} requests per second.\n\n${latencyTable(measured)}`;
  });
  await part('memory', 'Memory per idle event stream', async () => {
    const measured = await memory(bench, chosen([nginx, hpmExpress, goProxy, gate, coursegateAgain]));
    goals.idleStream = measured.get(COURSEGATE)?.each;
    const rows = [...measured].map(([name, { before, each }]) => [name, (before / 1024).toFixed(0), each.toFixed(1)]);
    return `${bench.streams} streams, proportional set size.\n\n${table(['subject', 'before, MiB', 'per stream, KiB'], rows)}`;
  });
  await part('cluster', '1 KiB, two workers', async () =>
    saturationTable(
      await saturation(
        bench,
        '1 KiB, two workers',
        chosen([nginx, hpmExpress, gate, coursegateAgain]),
        '/api/bench/k1',
        2,
      ),
    ),
  );
  await part('routes', '1 KiB, 10 to 1,000 routes', async () => {
    const many = coursegate(1000);
    const measured = await saturation(
      bench,
      '1 KiB, routes',
      [gate, coursegateAgain, coursegate(100), many],
      '/api/bench/k1',
    );
    goals.routes = ratio(cpuOf(measured, many), cpuOf(measured, gate));
    const rows = [...measured].map(([name, values]) => {
      const own = values.map(({ cpu }) => cpu);
      return [name, shown(estimate(own)), shown(ratio(own, cpuOf(measured, gate)), 2)];
    });
    return table(['subject', 'CPU µs per request', 'x 10 routes'], rows);
  });
  return {
    text: `${method(bench)}\n\n${texts.join('\n\n')}`,
    goals,
    partial:
      asked.size < PARTS.length || options.peers !== '' || options.streams !== '1000'
        ? 'only a part of the section was asked for'
        : undefined,
  };
}

function method({ steadySeconds }: Bench): string {
  return `\`npm run bench -- proxy\`, with nginx ${nginxVersion()} and Go ${goVersion()}. CPU is the time of all threads of all processes of a
subject. Slices take a second, at a fixed rate ${steadySeconds} seconds after one that is not counted; ratios and differences are taken within a
round, and all subjects are started anew after half of the rounds. With one worker, the subject has CPU 0, and the load generator and the upstream share CPU 1. 48 keep-alive connections,
plain HTTP/1.1 over loopback. ${countersMissing === undefined ? 'Instructions and cache misses are those of the subject, kernel included.' : `No instructions were counted: ${countersMissing}.`} coursegate is \`serve\` with default settings, except that its limits are counted but too high to be
reached: real tokens from real approvals, embedded store, identity headers and a cached assertion, metrics, and the access log in a
file. nginx auth_request also passes the identity on and writes a JSON log; the others write none. nginx + our decision is plugin mode:
the files of \`coursegate snippets --for nginx-auth\`, with a Unix socket, a JSON log, and a gate that writes its own; it passes
only the assertion on, as nginx before 1.23 requires. Two workers are \`node:cluster\`
with one Redis.`;
}

function nginxVersion(): string {
  const said = execFileSync('sh', ['-c', `"${toolPath('nginx')}" -v 2>&1`], { encoding: 'utf8' });
  return /nginx\/(\S+)/.exec(said)?.[1] ?? 'unknown';
}

await benchmark(BENCHES.proxy, options, async (run) => {
  const upstream = await startUpstream(run.folder);
  const tokens = Array.from({ length: 24 }, () => randomBytes(32).toString('base64url'));
  const context = { folder: run.folder, upstream, tokens };
  try {
    return await measure({ run, context, steadySeconds: 2, streams: Number(options.streams) });
  } finally {
    await upstream.stop();
  }
});
