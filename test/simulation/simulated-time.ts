import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Scheduler } from './scheduler.ts';

/** A gate from its start to its end or crash. */
export interface Life {
  /** Such as `G1`, and `G1'` after a restart. */
  readonly name: string;
  /** Its place, which keeps its number after a restart. */
  readonly place: number;
  readonly scheduler: Scheduler;
  alive: boolean;
  /** Milliseconds by which its clock is wrong. */
  skew: number;
}

/** One piece of work of a gate: its start, or a request. */
export interface Work {
  readonly life: Life;
  /** Names its store calls, in the choices and in the history. */
  readonly name: string;
  /** Who asked for what, without numbers, such as `app refresh`. */
  readonly role: string;
  /** The connection that it is about, if it is about one. */
  readonly about: string;
  /** How many calls of the store it has made. */
  calls: number;
}

const works = new AsyncLocalStorage<Work>();

export function withinWork<T>(work: Work, run: () => T): T {
  return works.run(work, run);
}

/** Throws outside of the work of a gate: no other code may call what is simulated. */
export function currentWork(): Work {
  const work = works.getStore();
  if (work === undefined) throw new Error('a simulated part was called outside of a gate');
  return work;
}

/** Milliseconds since the epoch on the clock of this gate. */
export function clockOf(life: Life): number {
  return Math.floor(life.scheduler.now() + life.skew);
}

/**
 * Replaces the time and the timers of the process for code of a gate, and leaves them to all other code. oidc-provider reads
 * `Date.now`; the rest is injected. Returns how to undo that.
 */
export function replaceTime(): () => void {
  const real = { now: Date.now, performance: performance.now, set: setTimeout, clear: clearTimeout };
  const { random } = Math;
  // It only spreads what is tried again.
  Math.random = () => (works.getStore() === undefined ? random() : 0.5);
  const realIntervals = { set: setInterval, clear: clearInterval };
  Date.now = () => {
    const work = works.getStore();
    return work === undefined ? real.now() : clockOf(work.life);
  };
  performance.now = () => works.getStore()?.life.scheduler.now() ?? real.performance.call(performance);
  globalThis.setTimeout = ((run: (...given: unknown[]) => void, delay = 0, ...given: unknown[]) => {
    const life = works.getStore()?.life;
    if (life === undefined) return real.set(run, delay, ...given);
    const bound = AsyncResource.bind(() => run(...given));
    return new Timer(life.scheduler.after(delay, () => life.alive && bound()));
  }) as typeof setTimeout;
  globalThis.setInterval = ((run: () => void, every = 0, ...given: unknown[]) => {
    const life = works.getStore()?.life;
    if (life === undefined) return realIntervals.set(run, every, ...given);
    const bound = AsyncResource.bind(() => run());
    let cancel = () => {};
    const wait = () => {
      cancel = life.scheduler.after(every, () => {
        if (!life.alive) return;
        wait();
        bound();
      });
    };
    wait();
    return new Timer(() => cancel());
  }) as typeof setInterval;
  globalThis.clearInterval = ((timer: unknown) => {
    if (timer instanceof Timer) timer.cancel();
    else realIntervals.clear(timer as NodeJS.Timeout);
  }) as typeof clearInterval;
  globalThis.clearTimeout = ((timer: unknown) => {
    if (timer instanceof Timer) timer.cancel();
    else real.clear(timer as NodeJS.Timeout);
  }) as typeof clearTimeout;
  return () => {
    Date.now = real.now;
    performance.now = real.performance;
    globalThis.setTimeout = real.set;
    globalThis.clearTimeout = real.clear;
    Math.random = random;
    globalThis.setInterval = realIntervals.set;
    globalThis.clearInterval = realIntervals.clear;
  };
}

class Timer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  unref(): this {
    return this;
  }
}
