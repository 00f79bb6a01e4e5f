import type { Log } from '../operations/log.ts';
import type { Link } from './link.ts';
import type { WorkerAnswers } from './protocol.ts';

/** One worker process. */
export interface Hand {
  /** Which of the workers it is: 1 and on. One that takes over has the number of the one before. */
  readonly number: number;
  readonly pid: number | undefined;
  readonly link: Link<WorkerAnswers>;
  /** Resolves once it takes requests. Never, when it ends before. */
  readonly listening: Promise<void>;
  readonly gone: Promise<Exit>;
  kill(): void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The workers of one primary. */
export interface Crew {
  /** Those that take requests, by number; one that is being replaced is missing. */
  readonly standing: () => ReadonlyMap<number, Hand>;
  /** Starts them all. Rejects with WorkerEnded when one of them ends before it takes requests; then none is left. */
  start(): Promise<void>;
  /** Puts a new worker in the place of each, one after the other: each ends its requests once the next takes some. */
  restart(): Promise<void>;
  /** Ends them all, each as it is configured. */
  close(seconds?: number): Promise<void>;
}

export interface CrewOptions {
  readonly workers: number;
  /** Starts a process. */
  readonly enlist: (number: number) => Hand;
  /** The seconds a worker is given to end what is in flight: at a restart, and with the notice that comes before at the end. */
  readonly drain: { readonly notice: number; readonly grace: number };
  /** Told of a worker that has gone, and of whether it should have. */
  readonly onGone: (hand: Hand, expected: boolean) => void;
  readonly log: Log;
}

/** A worker could not start: nothing is wrong with this one that would not be with the next. */
class WorkerEnded extends Error {
  readonly exit: Exit;

  constructor(exit: Exit) {
    super(`a worker ended before it took a request (${describe(exit)})`);
    this.name = 'WorkerEnded';
    this.exit = exit;
  }
}

/** Seconds: one that has lived for so long did not end because of how it begins. */
const PROVEN = 60;
/** Seconds between two starts of a worker that ends again and again, at most. The first time it is replaced at once. */
const LONGEST_REST = 30;
/** Seconds that a worker may take beyond those it was given, before it is killed. */
const OVERTIME = 10;

export function createCrew({ workers, enlist, drain, onGone, log }: CrewOptions): Crew {
  const standing = new Map<number, Hand>();
  /** All that run, those on their way in and out among them. */
  const alive = new Set<Hand>();
  const expected = new WeakSet<Hand>();
  /** By number, how often in a row a worker ended before it had proven itself. */
  const failures = new Map<number, number>();
  const rests = new Set<NodeJS.Timeout>();
  let started = false;
  let closing = false;
  let restarting: Promise<void> | undefined;

  const begin = (number: number): Hand => {
    const hand = enlist(number);
    const began = performance.now();
    alive.add(hand);
    void hand.gone.then((exit) => {
      alive.delete(hand);
      const stood = standing.get(number) === hand;
      if (stood) standing.delete(number);
      hand.link.close();
      onGone(hand, expected.has(hand) || closing);
      if (closing || expected.has(hand) || !started) return;
      log.error({ worker: number, pid: hand.pid, ...exit }, 'a worker ended by itself: another takes its place');
      // One that was to take over from another has failed: that one stays.
      if (stood || !standing.has(number)) replace(number, (performance.now() - began) / 1000);
    });
    return hand;
  };

  const stand = (hand: Hand): void => void standing.set(hand.number, hand);

  const replace = (number: number, lived: number): void => {
    const failed = lived >= PROVEN ? 0 : (failures.get(number) ?? 0);
    failures.set(number, failed + 1);
    const seconds = failed === 0 ? 0 : Math.min(LONGEST_REST, 2 ** (failed - 1));
    const rest = setTimeout(() => {
      rests.delete(rest);
      if (closing || standing.has(number)) return;
      const hand = begin(number);
      void hand.listening.then(() => {
        stand(hand);
        log.warn({ worker: number, pid: hand.pid }, 'another worker has taken its place');
      });
    }, seconds * 1000);
    rests.add(rest);
  };

  /** Has a worker end its requests, and waits until it is gone. */
  const retire = async (hand: Hand, seconds: number | null, given: number): Promise<void> => {
    expected.add(hand);
    hand.link.tell('drain', seconds);
    const overdue = setTimeout(
      () => {
        log.error({ worker: hand.number, pid: hand.pid }, 'a worker did not end in time, and is killed');
        hand.kill();
      },
      (given + OVERTIME) * 1000,
    );
    await hand.gone;
    clearTimeout(overdue);
  };

  const replaceAll = async (): Promise<void> => {
    for (let number = 1; number <= workers && !closing; number += 1) {
      const before = standing.get(number);
      // It is being replaced as it is.
      if (before === undefined) continue;
      const hand = begin(number);
      expected.add(hand);
      const exit = await Promise.race([hand.listening.then(() => undefined), hand.gone]);
      if (exit !== undefined) {
        if (!closing)
          log.error({ worker: number, ...exit }, 'a new worker could not start: the others stay as they are');
        return;
      }
      expected.delete(hand);
      const stillThere = standing.get(number) === before;
      stand(hand);
      if (stillThere) await retire(before, drain.grace, drain.grace);
    }
    if (!closing) log.warn({ workers }, 'all workers were replaced');
  };

  return {
    standing: () => standing,
    async start() {
      const hands = Array.from({ length: workers }, (_, at) => begin(at + 1));
      const ended = Promise.race(
        hands.map(async (hand) => {
          throw new WorkerEnded(await hand.gone);
        }),
      );
      try {
        await Promise.race([ended, Promise.all(hands.map(({ listening }) => listening))]);
      } catch (thrown) {
        closing = true;
        for (const hand of alive) hand.kill();
        await Promise.all(hands.map(({ gone }) => gone));
        throw thrown;
      }
      ended.catch(() => undefined);
      for (const hand of hands) stand(hand);
      started = true;
    },
    restart() {
      restarting ??= replaceAll().finally(() => {
        restarting = undefined;
      });
      return restarting;
    },
    async close(seconds) {
      closing = true;
      for (const rest of rests) clearTimeout(rest);
      const given = seconds ?? drain.notice + drain.grace;
      await Promise.all([...alive].map((hand) => retire(hand, seconds ?? null, given)));
      await restarting;
    },
  };
}

function describe({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}
