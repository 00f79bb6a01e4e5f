import { COMMAND } from './alloy.ts';
import { changeNotShown } from './family-picture.ts';
import { solve } from './solution.ts';
import type { Trace } from './trace.ts';

/** What traces are looked for, and how long they may be. */
export interface Scene {
  readonly name: string;
  /** What there is, as Alloy's scope, without the number of steps. */
  readonly scope: string;
  readonly given: string;
  readonly events: readonly string[];
  /** The most events of a trace. */
  readonly depth: number;
  /** Which pairs of consecutive events are looked for; all by default. */
  readonly only?: readonly string[];
}

const LOOKS = ['LookCode', 'LookToken', 'LookUsedCode', 'LookUsedToken', 'LookRefused'];
const RECALLS = ['RecallSame', 'RecallReusedCode', 'RecallReusedToken', 'RecallRepeatedCode', 'RecallRace'];
const ANSWERS = ['CommitCode', 'CommitToken', 'End', 'AnswerTokens', 'AnswerEnded'];
const CUTS = ['Approve', 'Revoke', 'Acknowledge'];
const CACHES = ['Fetch', 'Fill', 'Hear', 'AcknowledgeUnheard'];
const LOSSES = ['Replicate', 'Fail', 'LookAhead'];

export const SCENES: readonly Scene[] = [
  {
    name: 'requests',
    scope: '3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request',
    given: 'no Failover and no Durable',
    events: [...LOOKS, ...ANSWERS, ...RECALLS, ...CUTS, 'Drop', 'Tick', 'Crash'],
    depth: 7,
  },
  {
    name: 'two gates',
    scope: '3 but 0 Member, exactly 1 Grant, 2 Pair, exactly 2 Replica, 2 Request',
    given: 'no Failover and no Durable',
    events: [
      'LookToken',
      'LookUsedToken',
      'LookRefused',
      'CommitToken',
      'AnswerTokens',
      'RecallSame',
      ...CUTS.slice(1),
      ...CACHES,
      'Tick',
      'Crash',
    ],
    depth: 7,
  },
  {
    name: 'suspension',
    scope: '3 but exactly 1 Member, exactly 1 Grant, 1 Pair, exactly 1 Replica, 1 Request',
    given: 'no Failover and no Durable and Grant.member = Member',
    events: [
      'LookCode',
      'LookToken',
      'LookRefused',
      'CommitCode',
      'AnswerTokens',
      'RecallRace',
      ...CUTS,
      'Suspend',
      'SuspensionDone',
      'Tick',
      'Crash',
    ],
    depth: 7,
  },
  {
    name: 'failover that loses writes',
    scope: '3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request',
    given: 'some Failover and no Durable',
    events: [...LOOKS, ...ANSWERS, ...RECALLS, ...CUTS, ...LOSSES, 'Tick', 'Crash'],
    depth: 7,
    only: LOSSES,
  },
  {
    name: 'failover that loses nothing acknowledged',
    scope: '3 but 0 Member, exactly 1 Grant, 3 Pair, exactly 1 Replica, 3 Request',
    given: 'some Failover and some Durable',
    events: [...LOOKS, ...ANSWERS, ...RECALLS, ...CUTS, ...LOSSES, 'Tick', 'Crash'],
    depth: 7,
    only: LOSSES,
  },
];

/** The pairs of consecutive events of a trace. */
export function covered({ steps }: Pick<Trace, 'steps'>): readonly string[] {
  return steps.slice(1).map(({ event }, at) => `${steps[at]?.event} ${event}`);
}

/** The same traces without those whose pairs all are in others, the shortest ones first. */
export function without(traces: readonly Trace[]): readonly Trace[] {
  let kept = traces;
  for (const trace of traces.toSorted((a, b) => a.steps.length - b.steps.length)) {
    const others = kept.filter((other) => other !== trace);
    const pairs = new Set(others.flatMap(covered));
    if (covered(trace).every((pair) => pairs.has(pair))) kept = others;
  }
  return kept;
}

/** How many traces Alloy writes at a time: the first is found in seconds, each further one in less than a tenth. */
const BATCH = 150;

/**
 * Traces of a scene that together have every pair of consecutive events that is possible in `depth` events. `known` are
 * pairs that need not be in them, and gets those of the new ones.
 */
export async function exportScene(
  files: Readonly<Record<string, string>>,
  { name, scope, given, events, depth, only }: Scene,
  known: Set<string>,
  tell: (line: string, traces: readonly Trace[]) => void = () => {},
): Promise<readonly Trace[]> {
  const traces: Trace[] = [];
  const isWanted = (first: string, second: string) =>
    !known.has(`${first} ${second}`) && (only === undefined || only.includes(first) || only.includes(second));
  for (let length = depth - 1; length <= depth; ) {
    const goals = events.flatMap((first) => {
      const seconds = events.filter((second) => isWanted(first, second));
      return seconds.length === 0 ? [] : [`(Now.event = ${first} and Now.event' in ${seconds.join(' + ')})`];
    });
    const body = `${given} and always Now.event in ${events.join(' + ')} + Rest and eventually (${goals.join(' or ')})`;
    const text = `open tokens\nopen behaviour\nopen traces\nrun Wanted { ${body} } for ${scope}, exactly ${length + 1} steps\n`;
    const found = (await solve({ ...files, 'wanted.als': text }, 'wanted.als', BATCH)).map((one) => ({
      scene: name,
      ...one,
    }));
    if (found.length === 0) {
      tell(`${name}: ${traces.length} traces have every pair that is possible in ${length} events`, traces);
      length += 1;
    }
    for (;;) {
      const news = (trace: Trace) =>
        covered(trace).filter((pair) => isWanted(...(pair.split(' ') as [string, string]))).length;
      const [best] = found.toSorted((a, b) => news(b) - news(a) || a.steps.length - b.steps.length);
      if (best === undefined || news(best) === 0) break;
      for (const pair of covered(best)) known.add(pair);
      traces.push(best);
      tell(`${name} ${traces.length}: ${best.steps.map(({ event }) => event).join(' ')}`, traces);
    }
  }
  return traces;
}

/** A look-up that a revocation overtakes, at the gate that ends the connection, and at one that hears of it. */
export async function exportOvertaken(files: Readonly<Record<string, string>>): Promise<readonly Trace[]> {
  const traces: Trace[] = [];
  for (const event of ['Acknowledge', 'Hear']) {
    const body = `no Failover and no Durable and eventually (Now.event = ${event} and some Now.gate.fetching)`;
    const scope = '3 but 0 Member, exactly 1 Grant, 1 Pair, exactly 2 Replica, 0 Request, exactly 6 steps';
    const text = `open tokens\nopen behaviour\nopen traces\nrun Wanted { ${body} } for ${scope}\n`;
    const found = await solve({ ...files, 'wanted.als': text }, 'wanted.als');
    traces.push(...found.map((trace) => ({ scene: 'an overtaken look-up', ...trace })));
  }
  return traces;
}

/** A trace for each situation that the promises name. */
export async function exportSituations(files: Readonly<Record<string, string>>): Promise<readonly Trace[]> {
  const promises = files['promises.als'] ?? '';
  const runs = [...promises.matchAll(COMMAND)].filter(([, kind]) => kind === 'run');
  const rest = promises.replace(COMMAND, '').replace('open behaviour', 'open behaviour\nopen traces');
  const traces: Trace[] = [];
  for (const [text, , name = ''] of runs) {
    const [trace] = await solve({ ...files, 'wanted.als': `${rest}\n${text}\n` }, 'wanted.als');
    if (trace === undefined) throw new Error(`no trace has the situation ${name}`);
    traces.push({ scene: name, ...trace });
  }
  return traces;
}

/** Traces with each change of a refresh token that `traces` do not show, until there is none. */
export async function exportChanges(
  files: Readonly<Record<string, string>>,
  traces: readonly Trace[],
): Promise<readonly Trace[]> {
  const more: Trace[] = [];
  for (;;) {
    const text = changeNotShown([...traces, ...more]);
    const [trace] = await solve({ ...files, 'wanted.als': text }, 'wanted.als');
    if (trace === undefined) return more;
    more.push({ scene: 'changes of a refresh token', ...trace });
  }
}
