import { createClients } from './clients.ts';
import { createGivenTokens } from './given-tokens.ts';
import { type Ground, layGround } from './ground.ts';
import type { History, Line } from './history.ts';
import { watchKeyWork } from './key-work.ts';
import { createKeyWatch } from './keys.ts';
import { makePlan } from './make-plan.ts';
import type { Plan } from './plan.ts';
import { createPromises, type Violation } from './promises.ts';
import { createProofs } from './proofs.ts';
import { replaceTime } from './simulated-time.ts';
import { buildWorld } from './world.ts';

export interface SimulateOptions {
  /** What to run instead of the plan of the seed: a part of it. */
  readonly plan?: Plan;
}

export interface Outcome {
  readonly seed: number;
  readonly plan: Plan;
  readonly history: History;
  /** The promises that were broken, in order. */
  readonly violations: readonly Violation[];
  readonly coverage: Coverage;
}

interface Coverage {
  /** The commits of the schedule in order, each as who made it and what for: two schedules with the same one differ in nothing else. */
  readonly interleaving: string;
  /** What happened that a promise is about: audit actions, and faults that came to effect. */
  readonly situations: ReadonlySet<string>;
}

const ISSUED = new Set(['AccessToken', 'AuthorizationCode']);

let ground: Promise<Ground> | undefined;

/**
 * Runs the schedule of a seed against the code of `src` as it is loaded in this process. The same seed gives the same history.
 * One at a time: it replaces the clock and the timers of the process for the code that it runs.
 */
export async function simulate(seed: number, { plan = makePlan(seed) }: SimulateOptions = {}): Promise<Outcome> {
  const restore = [watchKeyWork(), replaceTime()];
  try {
    ground ??= layGround();
    return await run(seed, plan, await ground);
  } finally {
    for (const undo of restore) undo();
  }
}

async function run(seed: number, plan: Plan, ground: Ground): Promise<Outcome> {
  const history: Line[] = [];
  const violations: Violation[] = [];
  const situations = new Set<string>();
  const order: string[] = [];
  let rotations = 0;
  const world = await buildWorld({
    plan,
    ground,
    write: (line) => history.push(line),
    committed(work, mutations, number) {
      const kinds = mutations.flatMap((one) => ('entry' in one ? [one.entry.kind] : []));
      if (kinds.includes('SigningKeys')) rotations += 1;
      if (!kinds.includes('AnswerWatch')) order.push(`${work.about} ${work.role}`);
      if (kinds.includes('AccessToken')) promises.events.issued(work.about);
      if (kinds.some((kind) => ISSUED.has(kind))) tokens.issued(work.name, number);
    },
    failedOver(last, all) {
      const what = plan.store === 'sqlite' ? 'power loss' : 'failover';
      situations.add(last < all ? `${what} with loss` : what);
      if (last < all) promises.lostWrites(tokens.after(last), plan.durable);
    },
    died: (isBetween) => situations.add(isBetween ? 'a gate died between a commit and its answer' : 'a gate died'),
    heard: (life) => promises.heard(life),
    audited: (action) => situations.add(action),
    reloadBroken: (what) => promises.reload(what),
    reloaded: (outcome) => situations.add(`a configuration is ${outcome}`),
    connectionOf: (grantId) => clients.connections().find((one) => one.grantId === grantId),
    received(type, connection) {
      situations.add(`the backend is told of ${type}`);
      promises.events.received(type, connection);
    },
    stepped: (work, step) => clients.actWithin(work, step),
  });
  const tokens = createGivenTokens(world.now);
  const promises = createPromises({
    now: world.now,
    window: 10_000,
    diedAt: world.diedAt,
    hasTrouble: world.hasTrouble,
    windowsEnd: plan.faults.every(({ kind }) => kind === 'bus' || kind === 'answers'),
    situation: (name) => situations.add(name),
    broken(violation) {
      violations.push(violation);
      world.say('BROKEN', violation.promise, violation.what);
    },
  });
  const keys = createKeyWatch(world, promises);
  const clients = createClients({
    ...{ plan, world, promises, ground, tokens, situations },
    proofs: createProofs(() => world.scheduler.now()),
  });
  for (const action of plan.actions)
    if (action.during === undefined) world.scheduler.after(action.at, () => clients.act(action));
  const began = world.now();
  await world.scheduler.run(world.scheduler.now() - began + plan.calm);
  world.calm();
  await clients.lookAtTheEnd();
  if (plan.events) {
    await world.sendRest();
    promises.events.compare(clients.connections());
  }
  keys.compare(rotations);
  const areKeysKept = plan.actions.every(({ kind }) => kind !== 'keys rotate');
  await world.close(violations.length === 0 && areKeysKept);
  return { seed, plan, history, violations, coverage: { interleaving: order.join('; '), situations } };
}
