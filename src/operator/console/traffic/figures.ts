import { countOf, type Group, type Minute, namesIn } from '../../../operations/record/minute.ts';
import type { Line, LineStyle } from './chart.ts';
import type { Figure } from './figure.ts';
import type { Period } from './period.ts';
import { LONGEST, quantile } from './quantile.ts';

type Named = readonly [key: string, name: string, style: LineStyle];

const OUTCOMES: readonly Named[] = [
  ['admitted', 'Admitted', 1],
  ['anonymous', 'Anonymous', 2],
  ['public', 'Public', 3],
  ['site', 'Site', 4],
  ['refused', 'Refused', 5],
  ['failed', 'Failed', 6],
];
const STATUSES: readonly Named[] = [
  ['2xx', '2xx', 1],
  ['3xx', '3xx', 2],
  ['1xx', '1xx', 3],
  ['none', 'No response', 4],
  ['4xx', '4xx', 5],
  ['5xx', '5xx', 6],
];
const OPEN: readonly Named[] = [
  ['requests', 'Requests', 1],
  ['sse', 'Event streams', 2],
  ['websocket', 'WebSockets', 3],
];
const TOKENS: readonly Named[] = [
  ['authorization_code', 'New connection', 1],
  ['refresh_token', 'Refresh', 2],
];
const CONSENTS: readonly Named[] = [
  ['given', 'Approved', 1],
  ['denied', 'Denied', 5],
];

/** The groups that are drawn as lines: there is nearly always something. */
const LINES: readonly Group[] = ['requests', 'statuses', 'open'];

const WHOLE = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

export const formatCount = (value: number): string => WHOLE.format(value);

export function percent(part: number): string {
  return part < 0.0001 ? 'under 0.01%' : `${Number((part * 100).toPrecision(2))}%`;
}

/** `12 ms`, `1.4 s`, or `over 10 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds > LONGEST) return `over ${LONGEST} s`;
  const [value, unit] = seconds < 1 ? [seconds * 1000, 'ms'] : [seconds, 's'];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

/** `insufficient_scope` becomes "Insufficient scope". */
const inWords = (code: string): string => (code.charAt(0).toUpperCase() + code.slice(1)).replaceAll('_', ' ');

/** Response times of requests that were not passed to the site, without streams: [p50, p99] in seconds. */
export function responseTimes(minute: Minute | undefined, of = 'gate'): readonly [number?, number?] {
  const counts = minute?.latencies.get(of) ?? [];
  const [half, most] = [quantile(counts, 0.5), quantile(counts, 0.99)];
  return half === undefined || most === undefined ? [] : [half, most];
}

/** The figures of the first page: two charts over time, and one that says how often. */
export function mainFigures(period: Period): { readonly lines: readonly Figure[]; readonly bars: Figure } {
  return { lines: [requests(period), durations(period)], bars: refusals(period) };
}

export function allFigures(period: Period): readonly Figure[] {
  const per = perSlot(period);
  return [
    requests(period),
    durations(period),
    counted(period, 'statuses', 'Responses', `By status, ${per}`, 'No responses', STATUSES),
    counted(period, 'open', 'In progress', 'Open at the end of a minute', 'Nothing was open', OPEN),
    refusals(period),
    counted(period, 'failures', 'Failures', `By cause, ${per}`, 'Nothing failed', 'most'),
    counted(period, 'sign-ins', 'Sign-ins', `By outcome, ${per}`, 'No sign-ins', 'most'),
    counted(
      period,
      'tokens',
      'Access tokens issued',
      `By what they were issued for, ${per}`,
      'No tokens were issued',
      TOKENS,
    ),
    counted(period, 'consents', 'Consent', `Decisions of members, ${per}`, 'No decisions', CONSENTS),
  ];
}

const perSlot = ({ step }: Period): string => (step === 1 ? 'per minute' : `per ${step} minutes`);

const requests = (period: Period): Figure =>
  counted(period, 'requests', 'Requests', `By outcome, ${perSlot(period)}`, 'No requests', OUTCOMES);

const refusals = (period: Period): Figure =>
  counted(period, 'refusals', 'Refusals', `By reason, ${perSlot(period)}`, 'Nothing was refused', 'most');

function counted(
  period: Period,
  group: Group,
  title: string,
  text: string,
  none: string,
  names: readonly Named[] | 'most',
): Figure {
  const lines = names === 'most' ? mostFrequent(period, group) : named(period, group, names);
  const format = (value: number) => (value < 10_000 ? formatCount(value) : SHORT.format(value));
  const shape = LINES.includes(group) ? 'lines' : 'columns';
  return { id: group, title, text, none, shape, lines, scale: 'count', format };
}

/** The names that occurred. Each keeps its style, whatever else occurred. */
function named({ slots, sum }: Period, group: Group, names: readonly Named[]): readonly Line[] {
  const occurred = namesIn(sum, group);
  return names
    .filter(([key]) => occurred.has(key))
    .map(([key, name, style]) => ({
      name,
      style,
      values: slots.map(({ minute }) => minute && countOf(minute, group, key)),
      total: group === 'open' ? `at most ${formatCount(occurred.get(key) ?? 0)}` : formatCount(occurred.get(key) ?? 0),
    }));
}

/** Names that are drawn by themselves; the others share a line. */
const MOST_LINES = 6;

function mostFrequent({ slots, sum }: Period, group: Group): readonly Line[] {
  const names = [...namesIn(sum, group)].toSorted(([, a], [, b]) => b - a);
  const drawn = names.length > MOST_LINES ? names.slice(0, MOST_LINES - 1) : names;
  const rest = names.slice(drawn.length);
  const lineOf = (name: string, of: typeof names, at: number): Line => ({
    name,
    style: (at + 1) as LineStyle,
    values: slots.map(({ minute }) => minute && of.reduce((total, [key]) => total + countOf(minute, group, key), 0)),
    total: formatCount(of.reduce((total, [, count]) => total + count, 0)),
  });
  return [
    ...drawn.map((one, at) => lineOf(inWords(one[0]), [one], at)),
    ...(rest.length === 0 ? [] : [lineOf(`${rest.length} others`, rest, drawn.length)]),
  ];
}

function durations({ slots, sum }: Period): Figure {
  const times = slots.map(({ minute }) => responseTimes(minute));
  const total = responseTimes(sum);
  const lineOf = (name: string, which: 0 | 1, style: LineStyle): Line => ({
    name,
    style,
    values: times.map((both) => both[which]),
    total: total[which] === undefined ? 'none' : formatSeconds(total[which]),
  });
  return {
    id: 'durations',
    title: 'Response time',
    text: 'p50: half of the requests took less; p99: 99 of 100. Without streams and the site.',
    shape: 'lines',
    none: 'No requests were measured',
    lines: [lineOf('p50', 0, 1), lineOf('p99', 1, 5)],
    scale: 'seconds',
    format: formatSeconds,
  };
}
