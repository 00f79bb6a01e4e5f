import { type Choices, choicesOf } from './choices.ts';
import type { Action, Fault, Plan } from './plan.ts';

/** How often each action is chosen. */
const WEIGHTS: Readonly<Partial<Record<Action['kind'], number>>> = {
  refresh: 10,
  'refresh twice': 4,
  'refresh replaced': 1,
  'exchange again': 1.5,
  use: 7,
  thief: 4,
  'member cuts off': 2,
  'app revokes': 1.5,
  'operator ends': 1,
  'operator suspends': 1.5,
  'operator resumes': 0.7,
  'keys rotate': 0.15,
};

const ENDS: ReadonlySet<string> = new Set([
  'member cuts off',
  'app revokes',
  'operator ends',
  'operator suspends',
  'thief',
  'refresh replaced',
]);

/** The name of the work that an action begins. */
const WORK: Readonly<Partial<Record<Action['kind'], (id: number) => string>>> = {
  'member cuts off': (id) => `member cuts off ${id}`,
  'app revokes': (id) => `app revokes ${id}`,
  'operator ends': (id) => `operator ends ${id}`,
  'operator suspends': (id) => `operator suspends ${id}`,
  thief: (id) => `thief ${id}`,
  'refresh replaced': (id) => `refresh ${id} again`,
};

/** The number of the first action within other work. */
const FIRST_LOOK = 5000;
const FIRST_RELOAD = 7000;

const FAULTS: Readonly<Partial<Record<Fault['kind'], number>>> = {
  store: 5,
  failover: 2,
  'standby away': 1,
  crash: 3,
  bus: 3,
  backend: 1.5,
  clock: 1,
  answers: 3,
};

/** Those of a gate that is alone, with its store in a file. */
const FAULTS_OF_ONE: Readonly<Partial<Record<Fault['kind'], number>>> = {
  crash: 8,
  store: 1,
  backend: 1,
  clock: 1,
  answers: 3,
};

/** What one seed does. Actions come together, so that they meet. */
export function makePlan(seed: number): Plan {
  const choices = choicesOf(seed);
  const store = choices.chance('sqlite', 0.1) ? 'sqlite' : 'server';
  const events = choices.chance('events', 0.03);
  const severalGates = choices.chance('third gate', 0.15) ? 3 : 2;
  const gates = store === 'sqlite' ? 1 : severalGates;
  const connections = choices.chance('second connection', 0.25) ? 2 : 1;
  const members = Array.from({ length: connections }, (_, at) =>
    at > 0 && choices.chance('another member', 0.3) ? 'M2' : 'M1',
  );
  const gate = (name: string) => choices.below(`${name} gate`, gates);
  const actions: Action[] = [];
  const add = (kind: Action['kind'], at: number, connection: number) => {
    const id = actions.length;
    actions.push({ kind, at, id, connection, gate: gate(`action ${id}`) });
  };
  const isLate = connections > 1 && choices.chance('late approval', 0.5);
  for (let at = 0; at < (isLate ? 1 : connections); at += 1)
    add('exchange', 20 + 20 * choices.unit(`exchange ${at}`), at);
  const moments = 2 + choices.below('moments', 3);
  const times: number[] = [];
  let time = 0;
  for (let moment = 0; moment < moments; moment += 1) {
    const gap = choices.unit(`gap ${moment}`);
    time += choices.chance(`long gap ${moment}`, 0.12) ? 11_000 + 6000 * gap : 200 + 1800 * gap;
    times.push(time);
    const together = 1 + choices.below(`together ${moment}`, 3);
    for (let one = 0; one < together; one += 1) {
      const name = `moment ${moment} ${one}`;
      const connection = choices.below(`${name} connection`, connections);
      const kind = weighted(choices, name, WEIGHTS);
      const at = time + 12 * choices.unit(`${name} at`);
      // What was cached before an end must not be admitted after it.
      if (ENDS.has(kind) && choices.chance(`${name} use before`, 0.6))
        add('use', at - 250 - 400 * choices.unit(name), connection);
      if (ENDS.has(kind) && choices.chance(`${name} use after`, 0.6))
        add('use', at + 2000 * choices.unit(name) ** 2, connection);
      if (kind === 'thief') add('steal', at - (choices.chance(`${name} early`, 0.5) ? 150 : 1200), connection);
      if (kind === 'thief' && choices.chance(`${name} joined`, 0.6)) add('refresh', at + 3, connection);
      add(kind, at, connection);
    }
  }
  if (isLate) {
    const at = choices.pick('late moment', times);
    add('exchange', at + 60 * choices.unit('late exchange'), 1);
    // An approval that has begun must not survive a suspension.
    if (choices.chance('late suspension', 0.6)) add('operator suspends', at + 100 * choices.unit('late suspends'), 0);
  }
  // What a gate reads while it ends a connection must not be remembered afterwards.
  for (const { kind, id, at, connection, gate: place } of [...actions]) {
    const during = WORK[kind]?.(id);
    if (during === undefined || !choices.chance(`looks within ${id}`, 0.35)) continue;
    actions.push({ kind: 'use', at, id: FIRST_LOOK + id, connection, gate: place, during });
  }
  const reloads = choices.chance('reloads', 0.05);
  for (let one = 0; reloads && one < 4; one += 1) {
    const at = choices.pick(`reload ${one}`, times) + 120 * choices.unit(`reload ${one} at`) - 20;
    actions.push({ kind: 'reload', at, id: FIRST_RELOAD + one, connection: 0, gate: gate(`reload ${one}`) });
  }
  const faults = Array.from({ length: choices.below('faults', 4) + (store === 'sqlite' ? 1 : 0) }, (_, at) => {
    const name = `fault ${at}`;
    const beginning =
      choices.pick(`${name} moment`, choices.chance(`${name} early`, events ? 0.5 : 0.15) ? [0] : times) +
      40 * choices.unit(`${name} at`) -
      10;
    return withAbsence(choices, name, makeFault(choices, name, beginning, gates, store));
  }).flat();
  const ends = faults.map((fault) => endOf(fault));
  return {
    seed,
    gates,
    store,
    events,
    reloads,
    bound: choices.chance('bound', 0.085),
    members,
    durable: store === 'sqlite' || choices.chance('durable', 0.6),
    actions: actions.toSorted((a, b) => a.at - b.at),
    faults,
    calm: Math.max(time, ...ends) + 3000,
  };
}

function makeFault(choices: Choices, name: string, at: number, gates: number, store: Plan['store']): Fault {
  const unit = choices.unit(`${name} size`);
  const until = at + 20 + (choices.chance(`${name} long`, 0.3) ? 3000 : 300) * unit;
  const gate = choices.below(`${name} gate`, gates);
  const kind = weighted(choices, `${name} kind`, store === 'sqlite' ? FAULTS_OF_ONE : FAULTS);
  switch (kind) {
    case 'store': {
      const trouble = choices.pick(`${name} trouble`, [
        'refused',
        'timeout',
        'unanswered',
        'late',
        'read-only',
      ] as const);
      return { kind, from: at, until, trouble, chance: choices.pick(`${name} chance`, [0.1, 0.3, 1]) };
    }
    case 'failover':
      return {
        kind,
        at: at + (choices.chance(`${name} later`, 0.5) ? 1500 : 40) * unit,
        lag: choices.pick(`${name} lag`, [0, 0, 100, 3000]),
        takes: 1000 + 500 * choices.unit(`${name} takes`),
      };
    case 'standby away':
      return { kind, from: at, until };
    case 'crash': {
      const down = choices.chance(`${name} long`, 0.25) ? 11_000 + 3000 * unit : 50 + 1000 * unit;
      const crash = { kind, gate, at, steps: choices.below(`${name} steps`, 24), down };
      if (store === 'server') return crash;
      // Between two steps of the gate, a sync is running.
      const delay = choices.chance(`${name} between`, 0.6) ? 25 * choices.unit(`${name} delay`) : 0;
      return { ...crash, power: choices.chance(`${name} power`, 0.8), delay };
    }
    case 'bus':
      return {
        kind,
        from: at,
        until: until + 1000,
        trouble: choices.pick(`${name} trouble`, ['lost', 'twice', 'late', 'failing'] as const),
      };
    case 'backend':
      return { kind, from: at, until: until + 500, takes: choices.pick(`${name} takes`, [50, 300, 4000]) };
    case 'clock':
      return { kind, gate, at, by: Math.round(3000 * unit - 1500) };
    case 'answers':
      return { kind, from: at, until, chance: choices.pick(`${name} chance`, [0.3, 1]) };
  }
}

/** The standby may have been away for a while before it takes over: then it lacks more than the last commit. */
function withAbsence(choices: Choices, name: string, fault: Fault): readonly Fault[] {
  if (fault.kind !== 'failover' || !choices.chance(`${name} behind`, 0.5)) return [fault];
  const from = fault.at - 3000 * choices.unit(`${name} behind since`);
  return [{ kind: 'standby away', from, until: fault.at + fault.takes }, fault];
}

function endOf(fault: Fault): number {
  if ('until' in fault) return fault.until;
  if (fault.kind === 'failover') return fault.at + fault.takes;
  return fault.kind === 'crash' ? fault.at + 2000 + fault.down : fault.at;
}

function weighted<T extends string>(choices: Choices, name: string, weights: Readonly<Partial<Record<T, number>>>): T {
  const entries = Object.entries(weights) as [T, number][];
  let left = choices.unit(name) * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of entries) {
    left -= weight;
    if (left < 0) return value;
  }
  return (entries.at(-1) as [T, number])[0];
}
