import type { Check, Find } from './check.ts';
import { type Finding, failure, finding, LEVELS, type Verdict } from './finding.ts';
import { NoAnswer, Unavailable } from './unavailable.ts';

/** What checks run on. */
export interface Examination<S, F> {
  readonly examined: S;
  readonly find: Find<F>;
  /** How many checks run at the same time; 1 by default. */
  readonly atATime?: number;
  /** What is reported of the verdicts of a check, if not all of them. */
  readonly review?: (verdicts: readonly Verdict[], id: string) => readonly Verdict[];
}

/**
 * Runs the checks, and resolves to their findings in the order of the checks, worst finding of a check first.
 * @param progress - called after each check with the number of those that are done, and of all
 */
export async function runChecks<S, F>(
  { examined, find, atATime = 1, review = (verdicts) => verdicts }: Examination<S, F>,
  checks: readonly Check<S, F>[],
  progress?: (done: number, total: number) => void,
): Promise<readonly Finding[]> {
  const blamed = await findAll(checks, find);
  const findings = new Map<string, readonly Finding[]>();
  const waiting = [...checks];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const { id } = one;
      const verdicts = review(await verdictsOf(examined, one, find, blamed.get(id)), id);
      findings.set(
        id,
        verdicts.map((verdict) => finding(id, verdict)),
      );
      progress?.(findings.size, checks.length);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return checks.flatMap(({ id }) => findings.get(id) ?? []);
}

/**
 * Finds out the facts that the checks need, one after the other. When a fact is missing because the server did not
 * answer, only the first check that needs it reports the failure (the result of this function, by the check's id); the
 * others are skipped.
 */
async function findAll<S, F>(checks: readonly Check<S, F>[], find: Find<F>): Promise<ReadonlyMap<string, NoAnswer>> {
  const blamed = new Map<string, NoAnswer>();
  const reported = new Set<unknown>();
  for (const { id, needs } of checks) {
    for (const need of needs) {
      const thrown = await (find(need) as Promise<unknown>).catch((reason: unknown) => reason);
      if (!(thrown instanceof NoAnswer) || reported.has(thrown)) continue;
      reported.add(thrown);
      if (!blamed.has(id)) blamed.set(id, thrown);
    }
  }
  return blamed;
}

async function verdictsOf<S, F>(
  examined: S,
  check: Check<S, F>,
  find: Find<F>,
  blame: NoAnswer | undefined,
): Promise<readonly Verdict[]> {
  const facts: Partial<F> = {};
  try {
    for (const need of check.needs) facts[need] = await find(need);
  } catch (thrown) {
    return [blame === undefined ? skipped(thrown) : failed(blame)];
  }
  try {
    const outcome = await check.run({ ...examined, ...facts });
    return worst(Array.isArray(outcome) ? outcome : [outcome as Verdict]);
  } catch (thrown) {
    return [thrown instanceof Unavailable ? skipped(thrown) : failed(thrown)];
  }
}

/** The distinct problems of a check, worst first, or its first result if there are none. */
function worst(verdicts: readonly Verdict[]): readonly Verdict[] {
  const problems = verdicts.filter(({ level }) => level === 'warning' || level === 'failure');
  const distinct = new Map((problems.length > 0 ? problems : verdicts.slice(0, 1)).map((one) => [one.seen, one]));
  return [...distinct.values()].toSorted((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
}

function skipped(thrown: unknown): Verdict {
  return { level: 'skipped', seen: thrown instanceof Error ? thrown.message : String(thrown) };
}

const NO_ANSWER = 'Is the gate running? See its log, and the log of the server in front of it.';

function failed(thrown: unknown): Verdict {
  if (thrown instanceof NoAnswer) return failure(`no answer: ${thrown.message}`, NO_ANSWER);
  return failure(`the doctor could not process the response (${thrown instanceof Error ? thrown.message : thrown})`);
}
