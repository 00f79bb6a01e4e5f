import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import { countOf, type Group, type Minute, namesIn } from '../../../operations/record/minute.ts';
import { pathOfTime } from '../history/range.ts';
import type { Times } from '../kit/times.ts';
import { wordsOf } from '../kit/words.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { Explained } from '../recorder/explained.ts';
import { formatCount, formatSeconds, percent, responseTimes } from '../traffic/figures.ts';
import type { Period } from '../traffic/period.ts';
import { BORE_A_TOKEN, BOUNDS, OVER, OWN_DECISIONS } from './bounds.ts';
import { bad, type Concern, warn } from './concern.ts';

/**
 * What went wrong in the last hour.
 *
 * @param loginIsDown - whether it is known already that members cannot sign in
 */
export function trafficConcerns(period: Period, times: Times, loginIsDown: boolean): readonly Concern[] {
  const found = [
    ...SHARES.filter(({ whom }) => !(loginIsDown && whom !== undefined)).map((share) => tooMany(share, period, times)),
    slow(period, times),
  ];
  return found.filter((one) => one !== undefined);
}

/**
 * The last minutes in which something happened, without a longer pause between them: when, the page about the first of
 * them, all minutes since then, and whether it has not happened for a while. Undefined if it did not happen.
 */
function runOf({ slots }: Period, times: Times, happened: (minute: Minute) => boolean) {
  const minutes = slots.flatMap(({ minute }, at) => (minute !== undefined && happened(minute) ? [at] : []));
  const last = minutes.at(-1);
  if (last === undefined) return undefined;
  const first = minutes.findLast((at, index) => at - (minutes[index - 1] ?? -OVER) >= OVER) ?? last;
  const isOver = slots.length - last > OVER;
  const [began = 0, ended = 0] = [slots[first]?.at, slots[last]?.at];
  const [from, to] = [times.sameDay(began), times.sameDay(ended)];
  // The counts are of the hour: with an earlier run, the beginning of the last one would be too late for them.
  const text =
    minutes[0] !== first
      ? `in the last hour, the last at ${to}`
      : !isOver
        ? `since ${from}`
        : from === to
          ? `at ${from}`
          : `between ${from} and ${to}, and not since`;
  const see = { path: pathOfTime(began, times), name: 'History' };
  return { text, see, isOver, minutes: slots.slice(first).flatMap(({ minute }) => minute ?? []) };
}

/** What went wrong, as a share of all that was tried. */
interface Share {
  readonly what: string;
  /** Whom it hits while it is bad. */
  readonly whom?: string;
  readonly bound: { readonly share: number; readonly least: number; readonly bad?: number };
  /** Why, and how often. */
  readonly reasons: (minute: Minute) => ReadonlyMap<string, number>;
  /** How often in all, if that is not the sum of the reasons. */
  readonly count?: (minute: Minute) => number;
  readonly total: (minute: Minute) => number;
}

const SHARES: readonly Share[] = [
  {
    ...{ what: 'sign-ins failed', whom: 'Members cannot sign in: ', bound: BOUNDS.signIns },
    reasons: (minute) => counts(minute, 'sign-ins', ['login_unavailable', 'store_unavailable']),
    total: (minute) => sumOf(namesIn(minute, 'sign-ins')),
  },
  {
    ...{ what: 'requests failed', bound: BOUNDS.failed },
    reasons: (minute) => namesIn(minute, 'failures'),
    count: (minute) => countOf(minute, 'statuses', '5xx'),
    total: (minute) => sumOf(namesIn(minute, 'statuses')),
  },
  {
    ...{ what: 'requests with a token were refused', bound: BOUNDS.refused },
    reasons: refusals,
    total: (minute) => sumOf(refusals(minute)) + countOf(minute, 'requests', 'admitted'),
  },
];

const reasonText = wordsOf('overview/reasons.yaml');

const sumOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, one) => sum + one, 0);

/** Counts of these names. */
const counts = (minute: Minute, group: Group, names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name) => [name, countOf(minute, group, name)]));

/** Refusals of requests that bore a token. An app that waits for the 401 before it refreshes is refused once for each. */
function refusals(minute: Minute): ReadonlyMap<string, number> {
  const found = counts(minute, 'refusals', BORE_A_TOKEN);
  const invalid = countOf(minute, 'refusals', 'invalid_token') - countOf(minute, 'tokens', 'refresh_token');
  return new Map([...found, ['invalid_token', Math.max(0, invalid)]]);
}

function tooMany({ what, whom, bound, reasons, total, ...share }: Share, period: Period, times: Times) {
  const count = share.count ?? ((minute: Minute) => sumOf(reasons(minute)));
  const [wrong, all] = [count(period.sum), total(period.sum)];
  const run = runOf(period, times, (minute) => count(minute) > 0);
  if (run === undefined || wrong < bound.least || wrong < bound.share * all) return undefined;
  const named = [...reasons(period.sum)].filter(([reason]) => reasonText(reason) !== undefined);
  const [reason = '', often] = named.toSorted(([, a], [, b]) => b - a)[0] ?? [];
  const why =
    often === undefined
      ? 'all were answers of your backend'
      : `most often: ${reasonText(reason)} (${formatCount(often)})`;
  const recently = (of: (minute: Minute) => number) => run.minutes.reduce((sum, minute) => sum + of(minute), 0);
  const isBad = bound.bad !== undefined && !run.isOver && recently(count) >= bound.bad * recently(total);
  const text = html`${isBad && whom}${formatCount(wrong)} of ${formatCount(all)} ${what} (${percent(wrong / all)}) ${run.text}; ${why}.`;
  return (isBad ? bad : warn)(text, run.see);
}

function slow(period: Period, times: Times): Concern | undefined {
  const { p99, least } = BOUNDS.slow;
  const { sum } = period;
  const slowest = (minute: Minute, of?: string) => responseTimes(minute, of)[1] ?? 0;
  const run = runOf(period, times, (minute) => slowest(minute) > p99);
  const requests = (sum.latencies.get('gate') ?? []).reduce((all, count) => all + count, 0);
  if (run === undefined || slowest(sum) <= p99 || requests < least) return undefined;
  const upstreams = [...namesIn(sum, 'upstreams').keys()].map(
    (name) => [name, slowest(sum, `upstream ${name}`)] as const,
  );
  const [name, longest = 0] = upstreams.toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return warn(
    html`Responses are slow: one of a hundred took longer than ${formatSeconds(slowest(sum))} ${run.text}.${longest > p99 && html` The slowest upstream is <b>${name}</b> (${formatSeconds(longest)}).`}`,
    run.see,
  );
}

const HOUR = 3_600_000;

/** Whether apps that named themselves stopped on their way in the last hour, other than by the will of a member. */
export function stoppedConcern(all: readonly Explained[], now: number): Concern | undefined {
  const recent = all.filter(({ attempt }) => now - lastOf(attempt).at < HOUR);
  const stopped = recent.filter(({ state }) => state === 'stopped');
  const named = recent.filter(({ attempt }) => factOf(attempt, 'clientId') !== undefined);
  const faults = named.flatMap(({ attempt, why }) =>
    why === undefined || OWN_DECISIONS.has(why.id) ? [] : [{ attempt, why }],
  );
  const { share, least } = BOUNDS.stopped;
  if (faults.length < least || faults.length < share * named.length) return undefined;
  const titles = Map.groupBy(faults, ({ why }) => why.title);
  const [title = '', { length } = []] = [...titles].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const members = new Set(faults.flatMap(({ attempt }) => factOf(attempt, 'member') ?? [])).size;
  const whom = members > 0 && ` (${counted(members, 'member')})`;
  return warn(
    html`${formatCount(stopped.length)} attempts to connect stopped in the last hour${whom}; most often: ${title.charAt(0).toLowerCase()}${title.slice(1)} (${length}).`,
    { path: withQuery(pathOf('connections'), { state: 'stopped', within: 'hour' }), name: 'Connections' },
  );
}
