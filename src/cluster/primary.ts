import { changedKeys, restartFindings } from '../config/changes.ts';
import type { LoadedConfig } from '../config/load.ts';
import { configFingerprint } from '../foundation/config-fingerprint.ts';
import { createAudit } from '../operations/audit.ts';
import type { Log } from '../operations/log.ts';
import { createMetrics } from '../operations/metrics.ts';
import { createReloads } from '../operations/reloads.ts';
import { unusedTokens } from '../operations/unused-tokens.ts';
import { createWorkerMetrics } from '../operations/worker-metrics.ts';
import { type HeldStore, holdStore } from '../storage/hold.ts';
import { memoryStore } from '../storage/memory.ts';
import { memoryCounters } from '../storage/memory-counters.ts';
import { countedPlaces } from '../storage/places.ts';
import type { Illness } from '../storage/shared.ts';
import type { Clock } from '../storage/store.ts';
import { createBoard } from './board.ts';
import { createCrew, type Exit, type Hand } from './crew.ts';
import { openLink, type Port } from './link.ts';
import type { PrimaryAnswers, SentConfig, SentFailure, WorkerAnswers } from './protocol.ts';

/** A process that was just started. */
export interface StartedProcess {
  readonly pid: number | undefined;
  readonly port: Port;
  readonly exited: Promise<Exit>;
  kill(): void;
}

export interface PrimaryOptions {
  readonly loaded: LoadedConfig;
  readonly workers: number;
  readonly log: Log;
  readonly clock: Clock;
  /** Starts one more worker process. */
  readonly fork: () => StartedProcess;
  /** Lines of the access log that nobody took. */
  readonly droppedLines: () => number;
}

export interface Primary {
  /** Puts a new process in the place of each worker, one after the other, without losing a request. */
  restart(): Promise<void>;
  /** Has all workers serve by another configuration, or none. Never rejects: the log tells what was wrong. */
  reload(load: () => Promise<LoadedConfig>): Promise<{ readonly kind: 'taken' | 'refused' }>;
  /** As a gate's: with the notice, or within so many seconds. */
  close(seconds?: number): Promise<void>;
}

/** Milliseconds: what a worker has to take note of a revocation. Less than the one who waits for all of them has. */
const TAKE_NOTE = 600;
/** Milliseconds that a worker may take to build everything anew. */
const RELOAD = 60_000;
const UNUSED_EVERY = 30_000;

/** What the primary counts for the gate; the rest is counted by who answers requests. */
const COUNTED_HERE: ReadonlySet<string> = new Set([
  'coursegate_access_log_dropped_lines_total',
  'coursegate_tokens_unused_total',
  'coursegate_tokens_unused_apps',
  'coursegate_config_last_reload_successful',
  'coursegate_config_last_reload_timestamp_seconds',
  'coursegate_config_info',
]);

interface Member {
  readonly hand: Hand;
  /** The places it has taken and not given back. */
  readonly places: Map<number, (counts: boolean) => void>;
  /** Whether it may remember something already. */
  begun: boolean;
  /** What kept it from starting. */
  failure?: SentFailure;
}

/**
 * Runs a gate as several processes behind one port, and is none of them: it keeps the store for them, starts and replaces
 * them, and is where what they share comes together. It answers no request itself, so little can go wrong with it; without
 * it the workers end at once. Throws StoreOpenError, and WorkerEnded when the gate cannot start; then nothing is left.
 */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  const { loaded, workers, log, clock } = options;
  const { config } = loaded;
  const held: HeldStore | undefined =
    config.store.kind === 'sqlite' ? holdStore(config.store, loaded.secret) : undefined;
  const secretOf = ({ secret }: LoadedConfig) => secret ?? held?.secret;
  let serving = loaded;

  const members = new Map<Hand, Member>();
  const counters = memoryCounters(clock);
  const places = countedPlaces(counters, clock);
  // What was issued and shown is told by the workers: nothing is looked up.
  const unused = unusedTokens({ store: memoryStore(clock), replicas: false, clock, log });
  const ofWorkers = createWorkerMetrics(workers, () => crew.standing().size);
  const fingerprint = configFingerprint(secretOf(loaded) ?? '');
  const written = createAudit(log, clock);
  const reloads = createReloads({
    log,
    // Each worker tells of what it has taken over.
    audit: (event) => {
      if (event.outcome !== 'success') written(event);
    },
    clock,
    fingerprint: fingerprint(loaded),
  });
  const metrics = createMetrics({
    droppedLines: options.droppedLines,
    upstreams: () => [],
    unused: () => ({ connections: unused.connections(), apps: unused.apps() }),
    events: () => undefined,
    clock,
    reloads: () => reloads.state(),
  });
  let illness: Illness | undefined;
  let placesTaken = 0;
  let closing = false;
  let started = false;
  let firstFailure: SentFailure | undefined;

  const others = (than: Hand | undefined) =>
    [...members.values()].filter(({ hand, begun }) => begun && hand !== than).map(({ hand }) => hand);

  const becomeIll = (found: Illness, by?: Hand): void => {
    if (illness?.kind === 'damaged' || illness?.kind === found.kind) return;
    illness = found;
    log.error({ err: new Error(found.reason) }, 'the store is ill: all workers stop using it');
    for (const hand of others(by)) hand.link.tell('ill', found);
  };
  void held?.found.then((found) => found && becomeIll({ kind: 'damaged', reason: found.message }));

  const sentOf = (of: LoadedConfig): { sent: SentConfig; digest: string } => {
    const { sources, written: _, mistaken: __, ...settings } = of;
    const furtherSecrets = [...(held?.furtherSecrets ?? []), ...of.furtherSecrets];
    return {
      sent: { ...settings, secret: secretOf(of), furtherSecrets },
      digest: sources.fingerprint((digest) => digest),
    };
  };

  /**
   * One worker tries it before the others, so that what cannot be served is refused by all. One that refuses then all the
   * same leaves, and the one in its place begins with it.
   */
  const takeOver = async (next: LoadedConfig): Promise<void> => {
    const order = { ...sentOf(next), workers };
    const [first, ...rest] = others(undefined);
    const refused = await first?.link.ask('reload', order, RELOAD);
    if (typeof refused === 'string') throw new Error(refused);
    serving = next;
    await Promise.all(
      rest.map(async (hand) => {
        const why = await hand.link.ask('reload', order, RELOAD).catch((thrown: Error) => thrown.message);
        if (why === null || !members.has(hand)) return;
        log.error(
          { worker: hand.number, why },
          'a worker did not take the configuration over: another takes its place',
        );
        hand.link.tell('drain', next.config.listen.drain.grace);
      }),
    );
  };

  /** Who does what only one does. */
  let sweeper: Hand | undefined;
  const appointSweeper = (): void => {
    if (closing || (sweeper !== undefined && members.has(sweeper))) return;
    sweeper = crew.standing().values().next().value;
    sweeper?.link.tell('sweep', null);
  };

  const answersFor = (member: () => Member, listening: () => void) => ({
    begin() {
      const { hand } = member();
      member().begun = true;
      if (sweeper === undefined) sweeper = hand;
      return { ...sentOf(serving), number: hand.number, workers, sweeps: sweeper === hand, illness };
    },
    failed(failure: SentFailure) {
      member().failure = failure;
      firstFailure ??= failure;
    },
    listening,
    async revoked() {
      await Promise.all(
        others(member().hand).map((hand) =>
          // One that is gone remembers nothing.
          hand.link.ask('revoked', null, TAKE_NOTE).catch((thrown: unknown) => {
            if (members.has(hand)) throw thrown;
          }),
        ),
      );
    },
    count({ key, count, per }: { key: string; count: number; per: number }) {
      const window = counters.add(key, { per }, count);
      return { count: window.count, milliseconds: window.resetsAt - clock() };
    },
    async take(limits: Parameters<PrimaryAnswers['take']>[0]) {
      const taken = await places.take(limits);
      if (taken.kind === 'full') return { wait: taken.wait };
      placesTaken += 1;
      member().places.set(placesTaken, taken.giveBack);
      return { place: placesTaken };
    },
    giveBack({ place, counts }: { place: number; counts: boolean }) {
      member().places.get(place)?.(counts);
      member().places.delete(place);
    },
    ill: (found: Illness) => becomeIll(found, member().hand),
    issued: (event: Parameters<PrimaryAnswers['issued']>[0]) =>
      unused.heard({ ...event, member: undefined, address: undefined, requestId: undefined }),
    used: unused.used,
    ready: () => board.ready(),
    metrics: () => board.metrics(),
    observed: () => board.observed(),
    leaving: (last: Parameters<PrimaryAnswers['leaving']>[0]) => board.left(member().hand, last),
  });

  const enlist = (number: number): Hand => {
    const { pid, port, exited, kill } = options.fork();
    let listens = () => {};
    const listening = new Promise<void>((resolve) => {
      listens = resolve;
    });
    const link = openLink<PrimaryAnswers, WorkerAnswers>(
      port,
      answersFor(
        () => member,
        () => listens(),
      ),
      (error) => log.error({ worker: number, err: error }, 'what a worker told could not be done'),
    );
    const hand: Hand = { number, pid, link, listening, gone: exited, kill };
    const member: Member = { hand, places: new Map(), begun: false };
    members.set(hand, member);
    return hand;
  };

  const crew = createCrew({
    workers,
    enlist,
    drain: config.listen.drain,
    log,
    onGone(hand, expected) {
      const member = members.get(hand);
      members.delete(hand);
      board.gone(hand);
      if (!expected) ofWorkers.ended();
      if (!expected && started && member?.failure !== undefined)
        log.error({ worker: hand.number, reason: member.failure.message }, 'a worker could not start');
      // Nobody knows what came of them: an attempt that brings its worker down is one all the same.
      for (const giveBack of member?.places.values() ?? []) giveBack(true);
      appointSweeper();
    },
  });
  const board = createBoard({
    workers,
    standing: crew.standing,
    present: () => others(undefined),
    draining: () => closing,
    async own() {
      const { gate, process } = await metrics.collected();
      const own = gate.filter(({ name }) => COUNTED_HERE.has(name));
      return { gate: [...own, ...(await ofWorkers.collected())], process };
    },
  });

  try {
    await crew.start();
    started = true;
  } catch (thrown) {
    await held?.release();
    throw firstFailure === undefined ? thrown : await asThrown(firstFailure, loaded);
  }
  const judging = setInterval(() => void unused.judge(), UNUSED_EVERY).unref();

  return {
    restart: () => crew.restart(),
    async reload(load) {
      const began = performance.now();
      try {
        const next = await load();
        const restart = restartFindings(serving, next);
        if (restart.length > 0) throw next.mistaken(restart);
        const keys = changedKeys(serving, next);
        if (keys.length > 0) await takeOver(next);
        reloads.taken(keys, fingerprint(next), performance.now() - began);
        return { kind: 'taken' };
      } catch (thrown) {
        reloads.refused(thrown instanceof Error ? thrown : new Error(String(thrown)));
        return { kind: 'refused' };
      }
    },
    async close(seconds) {
      closing = true;
      clearInterval(judging);
      await crew.close(seconds);
      counters.close();
      await held?.release();
    },
  };
}

/** What a worker threw, as it would have been thrown here. */
async function asThrown({ mistaken, message, cause, code, port }: SentFailure, loaded: LoadedConfig): Promise<unknown> {
  if (mistaken) {
    // Only now, since they bring all that a primary has no other use for.
    const [{ checkInterfaces }, { checkDriver }] = await Promise.all([
      import('../generation/account-and-mcp.ts'),
      import('../login/database/check-driver.ts'),
    ]);
    try {
      await checkInterfaces(loaded);
      await checkDriver(loaded);
    } catch (thrown) {
      return thrown;
    }
  }
  const error = new Error(message, cause === undefined ? undefined : { cause: new Error(cause) });
  return Object.assign(error, { code, port });
}
