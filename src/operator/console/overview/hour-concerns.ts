import { html } from '../../../http/html.ts';
import { countOf, type Minute, namesIn } from '../../../operations/record/minute.ts';
import type { Times } from '../kit/times.ts';
import { formatCount, formatSeconds, percent, responseTimes } from '../traffic/figures.ts';
import type { Period } from '../traffic/period.ts';
import { BORE_A_TOKEN, BOUNDS, OVER } from './bounds.ts';
import { bad, type Concern, historyOf, warn } from './concern.ts';

/**
 * What went wrong in the last hour.
 * @param loginIsDown whether it is known already that members cannot sign in
 */
export function hourConcerns(period: Period, times: Times, loginIsDown: boolean): readonly Concern[] {
  return [
    signIns(period, times, loginIsDown),
    failed(period, times),
    refused(period, times),
    slow(period, times),
  ].filter((one) => one !== undefined);
}

/** Something that happened in some minutes. */
interface Run {
  readonly text: string;
  /** Where the first of them is shown. */
  readonly see: Concern['see'][number];
  /** Whether it has not happened for a while. */
  readonly isOver: boolean;
  readonly slots: Period['slots'];
}

/** The last minutes in which something happened, without a longer pause between them. */
function runOf({ slots }: Period, times: Times, happened: (minute: Minute) => boolean): Run | undefined {
  const minutes = slots.flatMap(({ minute }, at) => (minute !== undefined && happened(minute) ? [at] : []));
  const last = minutes.at(-1);
  if (last === undefined) return undefined;
  const first = minutes.findLast((at, index) => at - (minutes[index - 1] ?? -OVER) >= OVER) ?? last;
  const isOver = slots.length - last > OVER;
  const from = times.sameDay(slots[first]?.at ?? 0);
  const to = times.sameDay(slots[last]?.at ?? 0);
  // The counts are of the hour: with an earlier run, the beginning of the last one would be too late for them.
  const text =
    minutes[0] !== first
      ? `in the last hour, the last at ${to}`
      : !isOver
        ? `since ${from}`
        : from === to
          ? `at ${from}`
          : `between ${from} and ${to}, and not since`;
  return { text, isOver, slots: slots.slice(first), see: historyOf(slots[first]?.at ?? 0, times) };
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, one) => sum + one, 0);

/** The most frequent of some names. */
function most(counts: Iterable<readonly [string, number]>): readonly [string, number] | undefined {
  return [...counts].toSorted(([, a], [, b]) => b - a)[0];
}

function signIns(period: Period, times: Times, loginIsDown: boolean): Concern | undefined {
  const failures = (minute: Minute) =>
    countOf(minute, 'sign-ins', 'login_unavailable') + countOf(minute, 'sign-ins', 'store_unavailable');
  const run = runOf(period, times, (minute) => failures(minute) > 0);
  const count = failures(period.sum);
  if (run === undefined || loginIsDown || count < BOUNDS.signIns.least) return undefined;
  const many = `${formatCount(count)} sign-ins failed`;
  return run.isOver
    ? warn(html`${many} ${run.text}: your sign-in did not answer.`, run.see)
    : bad(html`Members cannot sign in: ${many} ${run.text} because your sign-in did not answer.`, run.see);
}

function failed(period: Period, times: Times): Concern | undefined {
  const failures = (minute: Minute) => countOf(minute, 'statuses', '5xx');
  const [count, total] = [failures(period.sum), sumOf(namesIn(period.sum, 'statuses').values())];
  const { share, least, bad: worst } = BOUNDS.failed;
  const run = runOf(period, times, (minute) => failures(minute) > 0);
  if (run === undefined || count < least || count < share * total) return undefined;
  const own = most([...namesIn(period.sum, 'failures')].filter(([code]) => code in REASONS));
  const why =
    own === undefined ? 'all were answers of your backend' : `most often: ${REASONS[own[0]]} (${formatCount(own[1])})`;
  const text = html`${formatCount(count)} of ${formatCount(total)} requests failed (${percent(count / total)}) ${run.text}; ${why}.`;
  const recent = run.slots.flatMap(({ minute }) => minute ?? []);
  const isBad =
    !run.isOver &&
    sumOf(recent.map(failures)) >= worst * sumOf(recent.flatMap((one) => [...namesIn(one, 'statuses').values()]));
  return (isBad ? bad : warn)(text, run.see);
}

/** Failures with a status of 500 or more. */
const REASONS: Readonly<Record<string, string>> = {
  upstream_unreachable: 'an upstream could not be reached',
  upstream_unavailable: 'an upstream had failed before, and was not asked',
  upstream_timeout: 'an upstream took too long',
  upstream_overloaded: 'an upstream had too many requests in progress',
  upstream_invalid: 'an upstream gave an invalid response',
  login_unavailable: 'your sign-in did not answer',
  store_unavailable: 'the store could not be used',
  loop_detected: 'an upstream sends requests back to the gate',
  internal: 'the gate failed, and the log says how',
};

function refused(period: Period, times: Times): Concern | undefined {
  const { sum } = period;
  // An app that waits for the 401 before it refreshes is refused once for each refresh.
  const refreshed = countOf(sum, 'tokens', 'refresh_token');
  const counts = Object.keys(BORE_A_TOKEN).map((reason): [string, number] => {
    const count = countOf(sum, 'refusals', reason);
    return [reason, reason === 'invalid_token' ? Math.max(0, count - refreshed) : count];
  });
  const count = sumOf(counts.map(([, one]) => one));
  const total = count + countOf(sum, 'requests', 'admitted');
  const { share, least } = BOUNDS.refused;
  const often = most(counts);
  const reasons = counts.filter(([, one]) => one > 0).map(([reason]) => reason);
  const run = runOf(period, times, (minute) => reasons.some((reason) => countOf(minute, 'refusals', reason) > 0));
  if (often === undefined || run === undefined || count < least || count < share * total) return undefined;
  return warn(
    html`${formatCount(count)} of ${formatCount(total)} requests with a token were refused (${percent(count / total)}) ${run.text}; most often: ${BORE_A_TOKEN[often[0]]} (${formatCount(often[1])}).`,
    run.see,
  );
}

function slow(period: Period, times: Times): Concern | undefined {
  const { p99, least } = BOUNDS.slow;
  const [, longest = 0] = responseTimes(period.sum);
  const count = sumOf(period.sum.latencies.get('gate') ?? []);
  const run = runOf(period, times, (minute) => (responseTimes(minute)[1] ?? 0) > p99);
  if (run === undefined || longest <= p99 || count < least) return undefined;
  const slowest = most(
    [...namesIn(period.sum, 'upstreams').keys()].map((name) => [
      name,
      responseTimes(period.sum, `upstream ${name}`)[1] ?? 0,
    ]),
  );
  const whose =
    slowest !== undefined &&
    slowest[1] > p99 &&
    html` The slowest upstream is <b>${slowest[0]}</b> (${formatSeconds(slowest[1])}).`;
  return warn(
    html`Responses are slow: one of a hundred took longer than ${formatSeconds(longest)} ${run.text}.${whose}`,
    run.see,
  );
}
