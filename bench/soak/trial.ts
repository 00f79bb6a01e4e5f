import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import type { Sample, SoakGate } from './gate.ts';
import type { Ledger } from './ledger.ts';
import { type Load, startLoad, warmUp } from './mix.ts';
import type { Place } from './place.ts';
import { type Stage, setStage } from './stage.ts';
import { everyOneHolds } from './works/connections.ts';

export interface TrialOptions {
  readonly store: 'sqlite' | 'redis';
  /** In milliseconds: the duration of the load, the time between two samples, and between two kills. */
  readonly duration: number;
  readonly sampleEvery: number;
  /** Undefined: no process is killed, and with the embedded store there is one gate. */
  readonly illEvery: number | undefined;
  /** How often each kind of work is done before the first sample. */
  readonly warmUps: number;
  /** Pieces of work started per second, at each gate. */
  readonly perSecond: number;
  readonly folder: string;
  readonly say: (line: string) => void;
  /** Whether the trial should end early. */
  readonly stopped: () => boolean;
  /** Whether to write heap snapshots to the folder: after a third of the time, and at the end. */
  readonly snapshots: boolean;
}

export interface Outcome {
  readonly store: 'sqlite' | 'redis';
  /** Samples of the gate that is never killed: before the load, during it, and when all clients are gone. */
  readonly before: Sample;
  readonly samples: readonly Sample[];
  readonly after: Sample;
  /** When the load began, and how long it lasted. */
  readonly began: number;
  readonly lasted: number;
  readonly ills: readonly string[];
  /** Number of connections that were checked one by one, after each kill and at the end. */
  readonly checked: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly troubles: {
    readonly ill: Readonly<Record<string, number>>;
    readonly well: Readonly<Record<string, number>>;
  };
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** Gates that ended unexpectedly, and errors that gates logged. A kill may cause errors too. */
  readonly ends: readonly string[];
  readonly errors: readonly string[];
}

/** How long requests may fail after a kill, on a busy machine. */
const RECOVERY = 15_000;
/** How long it may take until the last idle connections are closed. */
const SETTLED_WITHIN = 180_000;

/**
 * Runs a gate under mixed load for a long time, next to a gate that is killed now and then. With the embedded store, each
 * gate has its own store; with Redis, both are replicas behind HAProxy, and Redis is killed too. Throws if it cannot start.
 */
export async function runTrial(options: TrialOptions): Promise<Outcome> {
  const stage = await setStage({ ...options, alone: options.illEvery === undefined });
  try {
    return await perform(stage, options);
  } finally {
    for (const close of stage.closers.toReversed()) await close();
  }
}

async function perform(stage: Stage, options: TrialOptions): Promise<Outcome> {
  const { gate, victim, places, weather } = stage;
  const { duration, sampleEvery, illEvery, perSecond, say, store } = options;
  await Promise.all(places.map((place) => warmUp(place, options.warmUps)));
  await closeIdleConnections();
  weather.over = false;
  const before = await settled(gate, undefined);
  say(`${store}: starts with ${mib(before.heapUsed)} MiB, ${before.descriptors} descriptors`);

  const samples: Sample[] = [];
  const ills: string[] = [];
  let checked = 0;
  const began = Date.now();
  let loads: Load[] = places.map((place) => startLoad(place, perSecond));
  const pause = async () => {
    weather.over = true;
    await Promise.all(loads.map((load) => load.stop()));
    for (const place of places) checked += await everyOneHolds(place);
    weather.over = false;
  };
  let nextIll = illEvery === undefined ? Number.POSITIVE_INFINITY : began + illEvery / 2;
  let snapshotTaken: boolean = false;
  for (let at = began + sampleEvery; at <= began + duration && !options.stopped(); at += sampleEvery) {
    await sleep(Math.max(0, at - Date.now()));
    const deep = samples.length % 30 === 29;
    const snapshot: boolean = options.snapshots && !snapshotTaken && at - began > duration / 3;
    samples.push(
      await gate.sample({ deep, ...(snapshot ? { snapshot: join(options.folder, `${store}-1.heapsnapshot`) } : {}) }),
    );
    snapshotTaken ||= snapshot;
    const last = samples.at(-1) as Sample;
    if (samples.length % 6 === 0) say(progress(store, last, places));
    if (Date.now() > nextIll && began + duration - Date.now() > 2 * RECOVERY) {
      nextIll += illEvery ?? 0;
      ills.push(await fallIll(stage, ills.length));
      say(`${store}: ${ills.at(-1)}`);
      await sleep(RECOVERY / 3);
      await pause();
      loads = places.map((place) => startLoad(place, perSecond));
    }
  }
  await pause();
  const lasted = Date.now() - began;
  say(`${store}: the load has ended`);
  if (options.snapshots) await gate.sample({ snapshot: join(options.folder, `${store}-2.heapsnapshot`) });
  await closeIdleConnections();
  const after = await settled(gate, before);
  const gates = [gate, ...(victim === undefined ? [] : [victim])];
  const ends = gates.flatMap((one) => one.ends());
  for (const one of gates) if ((await one.stop()) !== 0) ends.push('a gate did not exit with 0 after SIGTERM');
  const merged = mergeLedgers(places.map(({ ledger }) => ledger));
  return {
    ...{ store, before, samples, after, began, lasted, ills, checked, ends, ...merged },
    errors: gates.flatMap((one) => one.errors()),
  };
}

/** Kills Redis, if there is one, and the victim in turn, and starts it again. Returns a description. */
async function fallIll({ victim, redis, weather }: Stage, number: number): Promise<string> {
  weather.illUntil = Number.POSITIVE_INFINITY;
  const at = new Date().toISOString().slice(11, 19);
  try {
    if (redis !== undefined && number % 2 === 1) {
      await redis.kill();
      await sleep(randomInt(100, 2_000));
      await redis.start();
      return `${at} Redis killed and started`;
    }
    await victim?.kill();
    await sleep(randomInt(100, 2_000));
    await victim?.start();
    return `${at} a gate killed and started`;
  } finally {
    weather.illUntil = Date.now() + RECOVERY;
  }
}

/** Closes the connections that fetch would keep for as long as the gate offers, which is longer than a minute. */
async function closeIdleConnections(): Promise<void> {
  const used = getGlobalDispatcher();
  setGlobalDispatcher(new Agent());
  await used.close();
}

/**
 * Waits until the gate holds no more than `before` or, without it, until nothing changes any more. Returns the last sample,
 * after SETTLED_WITHIN at the latest.
 */
async function settled(gate: SoakGate, before: Sample | undefined): Promise<Sample> {
  const deadline = Date.now() + SETTLED_WITHIN;
  let last = await gate.sample({ deep: true });
  for (let same = 0; Date.now() < deadline; ) {
    await sleep(3_000);
    const next = await gate.sample({ deep: true });
    if (before !== undefined && isBack(next, before)) return next;
    same = next.descriptors === last.descriptors && next.objects?.timers === last.objects?.timers ? same + 1 : 0;
    last = next;
    if (before === undefined && same === 4) return next;
  }
  return last;
}

/** Allowance for objects that are created once, on first use, which may come after the first sample. */
const ONCE = 3;

/** Whether a gate holds no more descriptors, sockets, timers and requests than before. */
export function isBack(after: Sample, before: Sample): boolean {
  const [now, then] = [after.objects, before.objects];
  if (now === undefined || then === undefined) throw new Error('both samples need object counts');
  return (
    after.descriptors <= before.descriptors + ONCE &&
    now.sockets <= then.sockets + ONCE &&
    now.timers <= then.timers + ONCE &&
    now.requests <= then.requests + ONCE
  );
}

function mergeLedgers(ledgers: readonly Ledger[]) {
  const sum = (maps: readonly Readonly<Record<string, number>>[]) => {
    const total: Record<string, number> = {};
    for (const map of maps) for (const [name, count] of Object.entries(map)) total[name] = (total[name] ?? 0) + count;
    return total;
  };
  return {
    counts: sum(ledgers.map(({ counts }) => counts)),
    troubles: {
      ill: sum(ledgers.map(({ troubles }) => troubles.ill)),
      well: sum(ledgers.map(({ troubles }) => troubles.well)),
    },
    faults: ledgers.flatMap(({ faults }) => faults),
    faultCount: ledgers.reduce((total, { faultCount }) => total + faultCount, 0),
  };
}

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

function progress(store: string, last: Sample, places: readonly Place[]): string {
  const faults = places.reduce((total, { ledger }) => total + ledger.faultCount, 0);
  const live = places.reduce((total, { ledger }) => total + ledger.live, 0);
  return `${store}: heap ${mib(last.heapUsed)} MiB, resident ${mib(last.rss)} MiB, ${last.descriptors} descriptors, ${live} connections, ${faults} faults`;
}
