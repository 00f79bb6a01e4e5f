import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { jsonEntry, type Store } from '../../src/storage/store.ts';
import { type ConsoleSession, openConsole } from '../../test/operator/console/support/console.ts';
import { registerApp } from '../../test/support/app.ts';
import { type Browser, createBrowser } from '../../test/support/browser.ts';
import { connect } from '../../test/support/connection.ts';
import { cpuMeter, processorTime } from '../support/cpu.ts';
import { loadSlice } from '../support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from '../support/refreshing.ts';
import type { Run } from '../support/run.ts';
import { LANES, type Subject } from './store-subjects.ts';
import { memberName, type Pattern } from './stored-tokens.ts';
import { tokenCheck } from './token-check.ts';

/** What one operation costs: CPU time of the process that does it, and time, in microseconds. */
export interface StoreCost {
  readonly cpu: number;
  readonly time: number;
}

/** By the name of the measurement and of the subject. */
export type Costs = Map<string, ReadonlyMap<string, readonly StoreCost[]>>;

/** Expired entries of one step of the sweep. */
const SWEPT = 100;
/** Starts of each gate. Each takes about a second. */
const STARTS = 3;

const pick = <T>(items: readonly T[], index: number): T => items[(index * 7919) % items.length] as T;

/** Loads it for a second. */
async function slice<Lane>(
  lanes: readonly Lane[],
  operation: (lane: Lane) => Promise<unknown>,
  meter?: () => () => number,
): Promise<StoreCost> {
  const { cpu, perSecond } = await loadSlice(lanes, operation, meter);
  return { cpu, time: 1e6 / perSecond };
}

/** What is measured in this process, without a gate. */
export async function measureInProcess(run: Run, subjects: readonly Subject[], shape: Pattern, costs: Costs) {
  const scopes = String(JSON.parse(shape.client).scope).split(' ');
  const opened = [];
  for (const one of subjects) {
    const watch = { ahead: 0 };
    const store = one.open(() => Date.now() + watch.ahead);
    opened.push({ ...one, store, watch, check: await tokenCheck(store, one.gate.origin, scopes) });
  }
  let next = 0;
  const checked = await run.inTurns('token check, not cached', opened, ({ check, known }) =>
    slice([0], async () => {
      if (!(await check(pick(known, next++).accessToken)).active) throw new Error('a stored token is not active');
    }),
  );
  costs.set('token check, not cached', checked);
  const what = `sweep of ${SWEPT} expired entries`;
  costs.set(what, await run.inTurns(what, opened, ({ store, watch }) => sweepSlice(store, watch)));
  for (const { store } of opened) await store.close();
}

/** Sweeps for a second. The time in which the entries are written does not count. The store's clock makes them expire. */
async function sweepSlice(store: Store, watch: { ahead: number }): Promise<StoreCost> {
  const expiresAt = Math.floor(Date.now() / 1000) + 60;
  const entry = () => {
    const id = randomBytes(32).toString('base64url');
    return { op: 'put' as const, entry: jsonEntry('AccessToken', id, { jti: id }, expiresAt, { grant: id }) };
  };
  const spent = { cpu: 0, time: 0 };
  let steps = 0;
  for (const until = performance.now() + 1000; performance.now() < until; steps += 1) {
    await store.commit(Array.from({ length: SWEPT }, entry));
    watch.ahead = 3_600_000;
    const [used, began] = [process.cpuUsage(), performance.now()];
    const swept = await store.sweep(SWEPT);
    const { user, system } = process.cpuUsage(used);
    spent.time += (performance.now() - began) * 1000;
    spent.cpu += user + system;
    watch.ahead = 0;
    if (swept < SWEPT) throw new Error(`${swept} entries were swept`);
  }
  return { cpu: spent.cpu / steps, time: spent.time / steps };
}

interface Running extends Subject {
  readonly lanes: readonly RefreshLane[];
  readonly browser: Browser;
  readonly operator: ConsoleSession;
}

/** What is measured over HTTP at a gate in a process of its own, with connections that were made there. */
export async function measureOverHttp(
  run: Run,
  subjects: readonly Subject[],
  costs: Costs,
): Promise<ReadonlyMap<string, ConsoleCost>> {
  const starts = await run.inTurns('start until ready', subjects, ({ gate }) => startOnce(gate), STARTS);
  costs.set('start until ready', starts);
  const running: Running[] = [];
  for (const one of subjects) {
    const { origin } = one.gate;
    const browser = createBrowser();
    await connect(await registerApp(origin), { browser });
    const operator = await openConsole(one.gate);
    running.push({ ...one, browser, operator, lanes: await refreshLanes(origin, LANES) });
  }
  const measure = async (what: string, measured: (one: Running) => Promise<StoreCost>) => {
    costs.set(what, await run.inTurns(what, running, measured));
  };
  const at =
    ({ gate }: Running) =>
    () =>
      cpuMeter([gate.pid()]);
  await measure('refresh, over HTTP', (one) =>
    slice(one.lanes, refreshOnce, at(one)).catch((thrown) => {
      throw new Error(`${one.name}: the log of the gate ends with ${one.gate.log().slice(-4000)}`, { cause: thrown });
    }),
  );
  await measure('connected apps of a member, over HTTP', (one) =>
    slice([0], () => shows(one.browser.open(`${one.gate.origin}/oauth/apps`), 'Test App'), at(one)),
  );
  let next = 0;
  const consoles = new Map<string, ConsoleCost>();
  for (const one of running) {
    run.say(`first visit of the console, ${one.name}`);
    consoles.set(one.name, await measureConsole(one));
  }
  await measure('console search for an exact ID, over HTTP', (one) =>
    slice(
      [0],
      () => {
        const { clientId } = pick(one.known, next++);
        return shows(one.operator.get(`/console/search?q=${clientId}`), `/console/apps/${clientId}`);
      },
      at(one),
    ),
  );
  for (const one of running) await one.gate.kill();
  return consoles;
}

/** Stops a gate that runs, and starts it. */
async function startOnce(gate: Subject['gate']): Promise<StoreCost> {
  if (gate.pid() !== 0) {
    gate.signal('SIGTERM');
    await gate.exited();
  }
  const began = performance.now();
  await gate.start();
  return { cpu: processorTime([gate.pid()]), time: (performance.now() - began) * 1000 };
}

async function shows(page: Promise<{ readonly status: number; readonly text: string }>, what: string) {
  const { status, text } = await page;
  if (status !== 200 || !text.includes(what)) throw new Error(`${what} is not on the page: ${status} ${text}`);
}

/** Waits until the console has read the store. */
async function readDirectory({ operator }: Pick<Running, 'operator'>): Promise<void> {
  while ((await operator.get('/console/members')).text.includes('Reading the store')) await pause(50);
}

/** What the console costs once, in a gate that has served other requests: milliseconds, and MiB at the peak above those before. */
export interface ConsoleCost {
  readonly reading: StoreCost;
  readonly search: StoreCost;
  readonly memory: number;
}

/** The first reading of the store, and a search for the name of one member. */
async function measureConsole({ gate, size, operator }: Running): Promise<ConsoleCost> {
  const pid = gate.pid();
  // Sets the peak to what is used now (proc(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = peakOf(pid);
  const reading = await once(pid, () => readDirectory({ operator }));
  const name = memberName(size - 1);
  const search = await once(pid, async () => {
    for (;;) {
      const { text } = await operator.get(`/console/search?${new URLSearchParams({ q: name })}`);
      if (!text.includes('of the store has been searched')) {
        if (!text.includes(`<bdi>${name}</bdi>`)) throw new Error(`${name} is not found: ${text}`);
        return;
      }
      await pause(100);
    }
  });
  return { reading, search, memory: peakOf(pid) - before };
}

async function once(pid: number, work: () => Promise<void>): Promise<StoreCost> {
  const [used, began] = [cpuMeter([pid]), performance.now()];
  await work();
  return { cpu: used() / 1000, time: performance.now() - began };
}

/** The most resident memory that a process has used, in MiB. */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
