import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample, SoakGate } from './gate.ts';
import type { Ledger } from './ledger.ts';
import { type Load, startLoad, warmUp } from './mix.ts';
import type { Place } from './place.ts';
import { type Stage, setStage } from './stage.ts';
import { everyOneHolds } from './works/connections.ts';

export interface TrialOptions {
  readonly store: 'sqlite' | 'redis';
  /** Milliseconds: of load, between two samples, and between two ills. */
  readonly duration: number;
  readonly sampleEvery: number;
  /** Undefined: nothing is killed, and on the embedded store there is one gate. */
  readonly illEvery: number | undefined;
  /** How often each kind of work is done before the first look. */
  readonly warmUps: number;
  /** Pieces of work that are begun each second, at each of the places. */
  readonly perSecond: number;
  readonly folder: string;
  readonly say: (line: string) => void;
  /** Whether it is to end before its time. */
  readonly stopped: () => boolean;
  /** Whether snapshots of the heap are left in the folder: at a third of the time, and at its end. */
  readonly snapshots: boolean;
}

export interface Outcome {
  readonly store: 'sqlite' | 'redis';
  /** Of the gate that lives through all of it: before the load, under it, and when all clients have gone. */
  readonly before: Sample;
  readonly samples: readonly Sample[];
  readonly after: Sample;
  /** When the load began, and how long it went on. */
  readonly began: number;
  readonly lasted: number;
  readonly ills: readonly string[];
  /** Connections that were gone through, one by one, after each ill and at the end. */
  readonly checked: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly troubles: {
    readonly ill: Readonly<Record<string, number>>;
    readonly well: Readonly<Record<string, number>>;
  };
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** Gates that ended by themselves, and what they logged as errors; an ill may have its own. */
  readonly ends: readonly string[];
  readonly errors: readonly string[];
}

/** What a gate needs after something was killed until all is well again, on a machine that is busy. */
const RECOVERY = 15_000;
/** What the last idle connections may take to be closed, by whoever kept them. */
const SETTLED_WITHIN = 180_000;

/**
 * A gate under a mix of everything for a long time, and another one that is killed now and then: on the embedded store each
 * has its own, on Redis both are replicas behind HAProxy and Redis is killed too. Throws when it cannot begin.
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
  weather.over = false;
  const before = await settled(gate, undefined);
  say(`${store}: begins with ${mib(before.heapUsed)} MiB, ${before.descriptors} descriptors`);

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
  const after = await settled(gate, before);
  const gates = [gate, ...(victim === undefined ? [] : [victim])];
  const ends = gates.flatMap((one) => one.ends());
  for (const one of gates) if ((await one.stop()) !== 0) ends.push('a gate did not end with 0 at SIGTERM');
  const merged = mergeLedgers(places.map(({ ledger }) => ledger));
  return {
    ...{ store, before, samples, after, began, lasted, ills, checked, ends, ...merged },
    errors: gates.flatMap((one) => one.errors()),
  };
}

/** Kills Redis, if there is one, and the victim by turns. Resolves when both run again. Out: what was done. */
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

/**
 * In: what it must come back to. Waits until nothing is held beyond that, or, without it, until nothing changes any more.
 * Out: what it holds then, or after the longest time that it may take.
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

/** What is made once, when it is first needed, and may have been needed after the first look. */
const ONCE = 3;

/** Whether a gate holds no more descriptors, sockets, timers and requests than before. */
export function isBack(after: Sample, before: Sample): boolean {
  const [now, then] = [after.objects, before.objects];
  if (now === undefined || then === undefined) throw new Error('both are to be counted');
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
