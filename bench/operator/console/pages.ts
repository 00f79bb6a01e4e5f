import { createHistogram } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createDirectory } from '../../../src/operator/console/directory/directory.ts';
import { openConsole, startConsoleWorld } from '../../../test/operator/console/support/console.ts';
import {
  appId,
  grantId,
  memberId,
  nameOf,
  type Seed,
  seedFast,
  withStore,
} from '../../../test/operator/console/support/seed.ts';
import { BENCHES } from '../../benches.ts';
import { table } from '../../support/report.ts';
import { bench, type Findings, OPTIONS } from '../../support/run.ts';
import { median } from '../../support/statistics.ts';

/**
 * The pages of the console with many grants: how long each takes, and what reading the store costs other requests. The figures are
 * of one process, which also sends the requests.
 */
const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    grants: { type: 'string', default: '100000' },
  },
});
const SEED: Seed = { grants: Number(options.grants), members: Number(options.grants) / 2, apps: 300 };

const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['first page', '/console'],
  ['search: a name', `/console/search?${new URLSearchParams({ q: nameOf(4321) })}`],
  ['search: one letter', '/console/search?q=a'],
  ['members', '/console/members'],
  ['members, most grants first', '/console/members?sort=-grants'],
  ['apps', '/console/apps'],
  ['apps that can change data and are unused', '/console/apps?power=change&unused=30'],
  ['grants', '/console/grants'],
  ['grants: by a part of a name', '/console/grants?q=garc'],
  ['grants that can make changes and are unused', '/console/grants?power=change&unused=30&sort=used'],
  ['grants of one app', `/console/grants?${new URLSearchParams({ app: appId(1) })}`],
  ['a member', `/console/members/${memberId(1)}`],
  ['an app', `/console/apps/${encodeURIComponent(appId(3))}`],
  ['a grant', `/console/grants/${grantId(3)}`],
  ['the question before disconnecting', `/console/members/${memberId(1)}/apps/${encodeURIComponent(appId(1))}`],
];

await bench(BENCHES.console, options, async (run): Promise<Findings> => {
  const world = await startConsoleWorld();
  try {
    await run.look();
    run.say('filling the store');
    const reading = await world.whileStopped(async () => {
      await seedFast(world.data, SEED);
      return readOnce(world.data);
    });
    const operator = await openConsole(world);
    const first: number[] = [];
    while ((await operator.get('/console/members')).text.includes('Reading the store')) {
      const began = performance.now();
      await operator.get('/console/search?q=m-1');
      first.push(performance.now() - began);
    }
    const times = new Map<string, number[]>(PAGES.map(([name]) => [name, []]));
    for (let round = 0; round < run.rounds; round += 1) {
      for (const [name, path] of PAGES) {
        const began = performance.now();
        const { status } = await operator.get(path);
        times.get(name)?.push(performance.now() - began);
        if (status !== 200) throw new Error(`${path}: ${status}`);
      }
    }
    await run.look();
    const all = [...times, ...(first.length === 0 ? [] : [['any list, while the store is read', first] as const])];
    const rows = all.map(([name, taken]) => [name, median(taken).toFixed(1), Math.max(...taken).toFixed(1)]);
    return {
      text: `\`npm run bench -- console\`: pages of the console with ${SEED.grants.toLocaleString('en')} grants of ${SEED.members.toLocaleString('en')} members and ${SEED.apps} apps on SQLite, over HTTP, ${run.rounds} times each in turn.

${table(['page', 'median, ms', 'slowest, ms'], rows)}

Reading the store for the search takes ${reading.cpu} ms of CPU time in ${reading.milliseconds} ms, and ${reading.memory} MB of memory. The event loop
is free again after ${reading.median} ms in the median, ${reading.p99} ms at p99, and ${reading.longest} ms at most.`,
      goals: { consolePage: Math.max(...all.flatMap(([, taken]) => taken)) },
      partial: SEED.grants === 100_000 ? undefined : `${SEED.grants} grants instead of 100,000`,
    };
  } finally {
    await world.close();
  }
});

/** Reads everything once, and watches how long each slice keeps the event loop. */
function readOnce(data: string) {
  return withStore(data, async (store) => {
    const slices = createHistogram();
    const heap = process.memoryUsage().heapUsed;
    const cpu = process.cpuUsage();
    const began = performance.now();
    const directory = createDirectory(store, Date.now, { patience: 120_000 });
    let last = performance.now();
    const watch = () => {
      const now = performance.now();
      slices.record(Math.max(1, Math.round((now - last) * 1000)));
      last = now;
      watching = setImmediate(watch);
    };
    let watching = setImmediate(watch);
    await directory.look();
    clearImmediate(watching);
    const { user, system } = process.cpuUsage(cpu);
    const shown = (microseconds: number) => (microseconds / 1000).toFixed(1);
    const memory = Math.round((process.memoryUsage().heapUsed - heap) / 1e6);
    directory.close();
    return {
      ...{ cpu: Math.round((user + system) / 1000), milliseconds: Math.round(performance.now() - began), memory },
      ...{ median: shown(slices.percentile(50)), p99: shown(slices.percentile(99)), longest: shown(slices.max) },
    };
  });
}
