import { NO_OUTBOX } from '../../src/events/outbox.ts';
import type { EventsPart } from '../../src/events/part.ts';
import type { RawMutation } from '../../src/storage/store.ts';
import { createBackend } from './backend-events.ts';
import { type Choices, choicesOf } from './choices.ts';
import { openGate, type Seat, type SimulatedGate } from './gate.ts';
import type { Ground } from './ground.ts';
import type { Line } from './history.ts';
import type { Connection } from './known.ts';
import type { Plan } from './plan.ts';
import { createReloading, type Reloading } from './reloads.ts';
import { createScheduler, settled } from './scheduler.ts';
import { createSimulatedBus } from './simulated-bus.ts';
import { createSimulatedStore, type StoreOptions } from './simulated-store.ts';
import { clockOf, currentWork, type Life, type Work, withinWork } from './simulated-time.ts';
import { createSqliteStore } from './sqlite-store.ts';

/** A place where a gate runs, or is about to. */
interface Place {
  life: Life;
  gate: SimulatedGate | undefined;
  events: EventsPart | undefined;
  reloading: Reloading | undefined;
  restarts: number;
}

export interface WorldOptions {
  readonly plan: Plan;
  readonly ground: Ground;
  readonly write: (line: Line) => void;
  readonly committed: (work: Work, mutations: readonly RawMutation[], number: number) => void;
  readonly failedOver: (last: number, all: number) => void;
  readonly heard: (life: string) => void;
  /** A gate died; `isBetween`: after a commit of a request, before its answer. */
  readonly died: (isBetween: boolean) => void;
  readonly audited: (action: string) => void;
  /** Work of a gate is at its first (0), second … await. */
  readonly stepped: (work: Work, step: number) => void;
  readonly connectionOf: (grantId: string) => Connection | undefined;
  readonly reloadBroken: (what: string) => void;
  readonly reloaded: (outcome: string) => void;
  /** The backend was sent an event. */
  readonly received: (type: string, connection: Connection) => void;
}

/** The gates of one schedule, with their store, their bus and their clients' connections to them. */
export type World = Awaited<ReturnType<typeof buildWorld>>;

export async function buildWorld({ plan, ground, write, audited, ...told }: WorldOptions) {
  const choices: Choices = choicesOf(plan.seed);
  const scheduler = createScheduler(ground.nextStart());
  const began = scheduler.now();
  const now = () => scheduler.now() - began;
  const say = (who: string, what: string, answer = '') => write({ at: now(), who, what, answer });
  const deaths = new Map<string, number>();
  const breakOffs = new Map<Life, Set<() => void>>();
  const steps = new Map<number, number>();
  /** Requests that gates are working on, and those that have committed something. */
  const open = new Set<Work>();
  const stepsOf = new WeakMap<Work, number>();
  const stepped = (work: Work): void => {
    const step = stepsOf.get(work) ?? 0;
    stepsOf.set(work, step + 1);
    told.stepped(work, step);
  };
  const committed = new WeakSet<Work>();
  let commits = 0;
  let calm = false;

  const storeParts = {
    scheduler,
    choices,
    began,
    faults: plan.faults,
    watch: {
      step(work) {
        stepped(work);
        mayDie(work.life);
      },
      committed(work, mutations, number) {
        commits = number;
        say(work.life.name, `commits for ${work.name}`, mutations.map(described).join(', '));
        committed.add(work);
        told.committed(work, mutations, number);
      },
      failedOver(last) {
        say(
          'store',
          plan.store === 'sqlite' ? 'was without power' : 'fails over',
          last < commits ? `${commits - last} commits are lost` : 'nothing is lost',
        );
        told.failedOver(last, commits);
        commits = last;
      },
      trouble: (work, what) => say('store', `call of ${work.name}`, what),
    },
  } satisfies Partial<StoreOptions>;
  const store =
    plan.store === 'sqlite'
      ? createSqliteStore({ ...storeParts, image: await ground.image() })
      : createSimulatedStore({ ...storeParts, durable: plan.durable, before: ground.before });
  const bus = createSimulatedBus({
    scheduler,
    choices,
    began,
    faults: plan.faults,
    announcing: () => stepped(currentWork()),
    others: (life) => places.map((place) => place.life).filter((other) => other !== life && other.alive),
    heard(life, message) {
      const { gate } = places[life.place] as Place;
      if (gate === undefined) return;
      say(life.name, 'hears that something has ended');
      withinWork({ life, name: message, role: 'bus', about: '', calls: 0 }, gate.hear);
      told.heard(life.name);
    },
  });

  const backend = async (): Promise<void> => {
    const slow = plan.faults.find((one) => one.kind === 'backend' && one.from <= now() && now() < one.until);
    if (slow?.kind !== 'backend') return;
    const { life, name } = currentWork();
    say('backend', `is asked for ${name}`);
    const takes = slow.takes * choices.unit(`${name} backend`);
    await new Promise<void>((resolve) => scheduler.after(takes, () => life.alive && resolve()));
  };
  const seatOf = (life: Life): Seat => ({ life, raw: store.raw, bus, backend, audited, outbox: NO_OUTBOX });
  const school = createBackend({ scheduler, choices, say, isCalm: () => calm, ...told });
  const startWork = (life: Life): Work => ({ life, name: `start of ${life.name}`, role: 'start', about: '', calls: 0 });
  /** The gate takes requests from now on. */
  const occupy = (place: Place, gate: SimulatedGate): void => {
    place.gate = gate;
    const { life } = place;
    if (plan.reloads)
      place.reloading = withinWork(startWork(life), () =>
        createReloading({ gate, life, scheduler, choices, say, broken: told.reloadBroken }),
      );
    if (plan.events) place.events = withinWork(startWork(place.life), () => school.connect(gate, place.life));
  };
  const newLife = (place: number, restarts: number): Life => ({
    name: `G${place + 1}${"'".repeat(restarts)}`,
    place,
    scheduler,
    alive: true,
    skew: 0,
  });
  const places: Place[] = [];
  for (let place = 0; place < plan.gates; place += 1) {
    const gate = await ground.takeGate();
    const life = newLife(place, 0);
    Object.assign(gate.seat, seatOf(life));
    const taken: Place = { life, gate: undefined, events: undefined, reloading: undefined, restarts: 0 };
    occupy(taken, gate);
    places.push(taken);
  }
  ground.approvals.seat.raw = store.raw;

  const start = (place: Place): void => {
    const { life } = place;
    say(life.name, 'starts');
    withinWork(startWork(life), () => openGate(seatOf(life))).then(
      (gate) => {
        if (!life.alive) return;
        occupy(place, gate);
        say(life.name, 'runs');
      },
      () => {
        say(life.name, 'cannot start', 'the store does not answer');
        scheduler.after(500, () => start(place));
      },
    );
  };
  const die = (life: Life, down: number, power = false): void => {
    const place = places[life.place] as Place;
    life.alive = false;
    place.gate = undefined;
    deaths.set(life.name, now());
    say(life.name, 'dies');
    told.died([...open.values()].some((work) => work.life === life && committed.has(work)));
    if ('crashed' in store) store.crashed(life, power);
    for (const breakOff of breakOffs.get(life) ?? []) breakOff();
    scheduler.after(down, () => {
      place.restarts += 1;
      place.life = newLife(life.place, place.restarts);
      start(place);
    });
  };
  /** The crashes of the plan happen at a step of the gate. */
  const mayDie = (life: Life): void => {
    if (calm || !life.alive) return;
    for (const [at, fault] of plan.faults.entries()) {
      if (fault.kind !== 'crash' || fault.gate !== life.place || now() < fault.at) continue;
      const step = (steps.get(at) ?? 0) + 1;
      steps.set(at, step);
      if (step !== fault.steps + 1) continue;
      const dies = () => life.alive && die(life, fault.down, fault.power);
      if (fault.delay) scheduler.after(fault.delay, dies);
      else dies();
      return;
    }
  };
  for (const fault of plan.faults) {
    if (fault.kind !== 'clock') continue;
    scheduler.after(fault.at, () => {
      const { life } = places[fault.gate] as Place;
      life.skew += fault.by;
      say(life.name, 'has its clock set', `${fault.by} ms`);
    });
  }

  return {
    choices,
    scheduler,
    now,
    say,
    places,
    diedAt: (life: string) => deaths.get(life),
    clock: (life: Life) => clockOf(life),
    /**
     * Lets the gate at a place do something for a client. `done` is told what came of it, or undefined if the client has no
     * answer. `begun` is called when the gate begins.
     */
    ask<T>(
      place: number,
      { name, role, about, yields = false }: Pick<Work, 'name' | 'role' | 'about'> & { readonly yields?: boolean },
      run: (gate: SimulatedGate, life: Life) => Promise<T>,
      {
        begun,
        done,
      }: { begun: (life: Life | undefined) => void; done: (answer: T | undefined, life: Life | undefined) => void },
    ): void {
      scheduler.after(choices.delay(`${name} sent`), () => {
        const { life, gate } = places[place] as Place;
        begun(gate === undefined ? undefined : life);
        if (gate === undefined) return done(undefined, undefined);
        const work: Work = { life, name, role, about, calls: 0 };
        const end = yields ? scheduler.yields() : () => {};
        const breakOff = () => {
          end();
          open.delete(work);
          done(undefined, life);
        };
        const all = breakOffs.get(life) ?? new Set();
        breakOffs.set(life, all.add(breakOff));
        open.add(work);
        const { reloading } = places[place] as Place;
        const running = withinWork(work, () => run(gate, life));
        (reloading?.during(running, name) ?? running).then((answer) => {
          all.delete(breakOff);
          if (!open.delete(work)) return;
          end();
          done(answer, life);
        }, rethrow);
      });
    },
    /** Whether an answer is lost between its gate and its client. */
    losesAnswer: (name: string): boolean =>
      plan.faults.some(
        (fault) =>
          fault.kind === 'answers' &&
          fault.from <= now() &&
          now() < fault.until &&
          choices.chance(`${name} answer`, fault.chance),
      ),
    hasTrouble: () =>
      plan.faults.some((fault) =>
        fault.kind === 'failover'
          ? fault.at - fault.lag <= now() && now() < fault.at + fault.takes + 2000
          : (fault.kind === 'store' || (fault.kind === 'standby away' && plan.durable)) &&
            fault.from <= now() &&
            now() < fault.until + 2000,
      ),
    /** Nothing goes wrong from now on. */
    calm(): void {
      calm = true;
      say('all', 'works again');
    },
    /** The operator lets a gate load its configuration again. */
    reload(place: number, id: number): void {
      const { life, reloading } = places[place] as Place;
      if (!life.alive || reloading === undefined) return;
      const work: Work = { life, name: `reload ${id}`, role: 'reload', about: '', calls: 0 };
      withinWork(work, () => reloading.reload(work.name)).then((outcome) => told.reloaded(outcome), rethrow);
    },
    /** An operator lets one gate send everything that is left. */
    async sendRest(): Promise<void> {
      const place = places.find(({ gate }) => gate !== undefined);
      const decision = {
        by: 'operator',
        reason: undefined,
        certificate: undefined,
        address: undefined,
        requestId: undefined,
      };
      if (place !== undefined)
        withinWork(startWork(place.life), () => place.events?.control.retry(decision as never))?.catch(rethrow);
      await scheduler.run(scheduler.now() + 20_000);
    },
    /** Returns the gates that are as they were before, for the next schedule. */
    async close(areUsable: boolean): Promise<void> {
      for (const { life, events } of places) void withinWork(startWork(life), () => events?.stop?.());
      await scheduler.run();
      await settled(2);
      if ('close' in store) store.close();
      for (const { life, gate, reloading } of places) {
        await withinWork(startWork(life), () => reloading?.close());
        gate?.use();
      }
      for (const { gate, restarts } of places)
        if (areUsable && gate !== undefined && restarts === 0) ground.giveBack(gate);
    },
  };
}

function rethrow(thrown: unknown): never {
  throw thrown;
}

function described(mutation: RawMutation): string {
  const kind = 'entry' in mutation ? mutation.entry.kind : mutation.kind;
  return `${mutation.op} ${kind}`;
}
