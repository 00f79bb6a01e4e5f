import type { Check, CheckOutcome } from './check.ts';
import type { FactFinder, Facts, Need } from './facts/facts.ts';
import { type Finding, failure, finding, LEVELS, type Verdict } from './finding.ts';
import type { ExaminedSite } from './site.ts';
import { NoAnswer, Unavailable } from './unavailable.ts';

/** Checks that run concurrently. Few, to spare a site in use. */
const AT_A_TIME = 3;

/**
 * Runs the checks, and resolves to their findings in the order of the checks, worst finding of a check first.
 * @param progress - called after each check with the number of those that are done, and of all
 */
export async function examine(
  site: ExaminedSite,
  checks: readonly Check[],
  { find, progress }: { find: FactFinder; progress?: ((done: number, total: number) => void) | undefined },
): Promise<readonly Finding[]> {
  const blamed = await findAll(checks, find);
  const findings = new Map<Check, readonly Finding[]>();
  const waiting = [...checks];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      findings.set(one, await examineOne(site, one, find, blamed.get(one)));
      progress?.(findings.size, checks.length);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return checks.flatMap((one) => findings.get(one) ?? []);
}

/**
 * Determines the facts that the checks need, one after the other. When a fact is missing because the server did not
 * answer, only the first check that needs it reports the failure (the result of this function); the others are skipped.
 */
async function findAll(checks: readonly Check[], find: FactFinder): Promise<ReadonlyMap<Check, unknown>> {
  const blamed = new Map<Check, unknown>();
  const reported = new Set<unknown>();
  for (const one of checks) {
    for (const need of one.needs) {
      const thrown = await (find(need) as Promise<unknown>).catch((reason: unknown) => reason);
      if (!(thrown instanceof NoAnswer) || reported.has(thrown)) continue;
      reported.add(thrown);
      if (!blamed.has(one)) blamed.set(one, thrown);
    }
  }
  return blamed;
}

async function examineOne(
  site: ExaminedSite,
  one: Check,
  find: FactFinder,
  blame: unknown,
): Promise<readonly Finding[]> {
  const facts: Partial<Record<Need, unknown>> = {};
  try {
    for (const need of one.needs) facts[need] = await find(need);
  } catch (thrown) {
    return [finding(one, blame === undefined ? skipped(thrown) : failed(blame))];
  }
  const verdicts = await verdictsOf(() => one.run(site, facts as Partial<Facts>));
  return verdicts.map((verdict) => finding(one, verdict));
}

/** Runs a check. An error becomes its verdict: skipped if something is unavailable, otherwise a failure. */
export async function verdictsOf(run: () => CheckOutcome | Promise<CheckOutcome>): Promise<readonly Verdict[]> {
  try {
    const outcome = await run();
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
