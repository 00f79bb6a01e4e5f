import { once } from '../../http/once.ts';
import { documentPath } from '../../installation.ts';
import { typedUrl } from '../connect/oauth/transport.ts';
import { printable } from '../connect/printable.ts';
import { UsageError } from '../usage-error.ts';
import type { Check } from './check.ts';
import type { Finding } from './finding.ts';
import type { NotOAuth } from './not-oauth.ts';
import type { Report } from './report.ts';
import { type Examination, runChecks } from './run-checks.ts';
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

/** The address as typed. Throws UsageError if it is unusable, or contains credentials. */
export function addressOf(typed: string): { origin: string; path: string } {
  const url = typedUrl(typed);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${typed}" is not a web address. Give one such as https://school.example/mcp.`);
  if (url.username !== '' || url.password !== '') throw new UsageError('Give the address without a name and password.');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
