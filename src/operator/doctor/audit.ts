import { once } from '../../http/once.ts';
import { documentPath } from '../../installation.ts';
import { typedUrl } from '../connect/oauth/transport.ts';
import { printable } from '../connect/printable.ts';
import { UsageError } from '../usage-error.ts';
import type { Check, Find } from './check.ts';
import { type Finding, failure, finding, LEVELS, type Verdict } from './finding.ts';
import type { NotOAuth } from './not-oauth.ts';
import type { Report } from './report.ts';
import { type ExchangeLimits, NoAnswer, Unavailable } from './unavailable.ts';

export interface AuditOptions {
  /** Which checks of a table are run: ids of checks or themes; all by default. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** Other tables that these ids may be from. */
  readonly others?: readonly (readonly { readonly id: string }[])[];
  /** Seconds for the whole audit. */
  readonly timeout?: number;
  /** Aborts the audit. The report contains what was found so far. */
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, 10,000 by default. */
  readonly patience?: number;
  readonly now?: () => number;
  /** Called with what is done, such as "Checking URL", once the address has been validated. */
  readonly begin?: (doing: string) => void;
  /** Called with the number of checks that are done, and of all. */
  readonly progress?: (done: number, total: number) => void;
}

/** What checks run on. */
interface Examination<S, F> {
  readonly examined: S;
  readonly find: Find<F>;
  /** How many checks run at the same time; 1 by default. */
  readonly atATime?: number;
  /** What is reported of the verdicts of a check, if not all of them. */
  readonly review?: (verdicts: readonly Verdict[], id: string) => readonly Verdict[];
}

/** What an audit examines. */
interface Audit<S, F> {
  readonly url: string;
  /** What is done, such as "Checking URL". */
  readonly doing: string;
  readonly checks: readonly Check<S, F>[];
  /**
   * Prepares what the checks run on. The time for the audit begins when the limits are first asked for. Throws NoAnswer
   * and Unavailable, with the reason, if it cannot be reached.
   */
  open(limits: () => ExchangeLimits, now: () => number): Promise<OpenAudit<S, F>>;
}

/** What is open: either the examination, or that there is nothing to examine. */
interface OpenAudit<S, F> {
  readonly examination?: Examination<S, F>;
  readonly nothing?: NotOAuth;
  /** Ends what was opened. Resolves to the ids of clients that could not be deleted. */
  close?(): Promise<readonly string[]>;
}

/** Seconds. */
const TIMEOUT = 120;
/** Milliseconds. */
const PATIENCE = 10_000;

/** Runs the checks that were asked for. Throws UsageError for an unusable selection of checks. */
export async function runAudit<S, F>(
  options: AuditOptions,
  { url, doing, checks, open }: Audit<S, F>,
): Promise<Report> {
  const { timeout = TIMEOUT, signal: stop = AbortSignal.any([]), patience = PATIENCE, now = Date.now } = options;
  const selected = chosen(checks, options);
  const begun = now();
  options.begin?.(doing);
  const limits = once(() => ({
    patience,
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeout * 1000)]),
  }));
  const opened: OpenAudit<S, F> & Pick<Report, 'unreachable'> = await open(limits, now).catch(reasonOf);
  const { examination, unreachable, nothing, close } = opened;
  let findings: readonly Finding[] = [];
  let leftBehind: readonly string[] = [];
  try {
    if (examination !== undefined) {
      const applying = selected.filter(({ when }) => when(examination.examined));
      findings = await runChecks(examination, applying, options.progress);
    }
  } finally {
    leftBehind = (await close?.()) ?? [];
  }
  return {
    url,
    startedAt: new Date(begun),
    seconds: Math.round((now() - begun) / 100) / 10,
    ...(unreachable === undefined ? {} : { unreachable: printable(unreachable) }),
    ...(nothing === undefined ? {} : { nothing }),
    complete: examination !== undefined && !limits().signal.aborted,
    findings,
    leftBehind: leftBehind.map(printable),
  };
}

function reasonOf(thrown: unknown) {
  if (thrown instanceof NoAnswer || thrown instanceof Unavailable) return { unreachable: thrown.message };
  throw thrown;
}

/** The checks of a table that were asked for. Throws UsageError for an id or theme that no table has. */
function chosen<T extends { readonly id: string }>(
  table: readonly T[],
  { only = [], skip = [], others = [] }: AuditOptions,
): readonly T[] {
  const means = (wish: string, { id }: { readonly id: string }) => id === wish || id.startsWith(`${wish}.`);
  for (const wish of [...only, ...skip]) {
    if ([table, ...others].flat().some((one) => means(wish, one))) continue;
    throw new UsageError(
      `There is no check "${wish}". See ${documentPath('docs/doctor.md')}, or run without --only and --skip.`,
    );
  }
  return table.filter(
    (one) => (only.length === 0 || only.some((wish) => means(wish, one))) && !skip.some((wish) => means(wish, one)),
  );
}

/**
 * Runs the checks, and resolves to their findings in the order of the checks, worst finding of a check first.
 * @param progress - called after each check with the number of those that are done, and of all
 */
async function runChecks<S, F>(
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

/** The address as typed. Throws UsageError if it is unusable, or contains credentials. */
export function addressOf(typed: string): { origin: string; path: string } {
  const url = typedUrl(typed);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${typed}" is not a web address. Give one such as https://school.example/mcp.`);
  if (url.username !== '' || url.password !== '') throw new UsageError('Give the address without a name and password.');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
