import { countOf, type Group, type Minute, namesIn } from '../../../operations/record/minute.ts';
import { hasValues, type Line, type LineStyle } from './chart.ts';
import type { Figure } from './figure.ts';
import type { Period } from './period.ts';
import { LONGEST, quantile } from './quantile.ts';

/** Names that have a line each, in this order. Of the other groups, the most frequent names have one. */
const FIXED: Partial<Readonly<Record<Group, readonly string[]>>> = {
  requests: ['admitted', 'anonymous', 'public', 'site', 'refused', 'failed'],
  statuses: ['2xx', '3xx', '1xx', 'none', '4xx', '5xx'],
  open: ['requests', 'sse', 'websocket'],
  tokens: ['authorization_code', 'refresh_token'],
  consents: ['given', 'denied'],
};

/** What is not called by its code. */
const NAMES: Readonly<Record<string, string>> = {
  none: 'No response',
  sse: 'Event streams',
  websocket: 'WebSockets',
  authorization_code: 'New connection',
  refresh_token: 'Refresh',
  given: 'Approved',
};

/** The groups that are drawn as lines: there is nearly always something. */
const LINES: readonly Group[] = ['requests', 'statuses', 'open'];

/** The counted figures: their titles, what they show, and what is said if nothing happened. */
const COUNTED: readonly (readonly [group: Group, title: string, text: string, none: string])[] = [
  ['requests', 'Requests', 'By outcome', 'No requests'],
  ['statuses', 'Responses', 'By status', 'No responses'],
  ['open', 'In progress', 'Open at the end of a minute', 'Nothing was open'],
  ['refusals', 'Refusals', 'By reason', 'Nothing was refused'],
  ['failures', 'Failures', 'By cause', 'Nothing failed'],
  ['sign-ins', 'Sign-ins', 'By outcome', 'No sign-ins'],
  ['tokens', 'Access tokens issued', 'By what they were issued for', 'No tokens were issued'],
  ['consents', 'Consent', 'Decisions of members', 'No decisions'],
];

const WHOLE = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

/** `1,234`, or a dash if it was not measured. */
export const formatCount = (value: number | undefined): string => (value === undefined ? '–' : WHOLE.format(value));

export function percent(part: number): string {
  return part < 0.0001 ? 'under 0.01%' : `${Number((part * 100).toPrecision(2))}%`;
}

/** `12 ms`, `1.4 s`, `over 10 s`, or a dash if it was not measured. */
export function formatSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  if (seconds > LONGEST) return `over ${LONGEST} s`;
  const [value, unit] = seconds < 1 ? [seconds * 1000, 'ms'] : [seconds, 's'];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

/** `insufficient_scope` becomes "Insufficient scope". */
const inWords = (code: string): string =>
  NAMES[code] ?? (code.charAt(0).toUpperCase() + code.slice(1)).replaceAll('_', ' ');

/** Response times of requests that were not passed to the site, without streams: [p50, p99] in seconds. */
export function responseTimes(minute: Minute | undefined, of = 'gate'): readonly [number?, number?] {
  const counts = minute?.latencies.get(of) ?? [];
  const [half, most] = [quantile(counts, 0.5), quantile(counts, 0.99)];
  return half === undefined || most === undefined ? [] : [half, most];
}

/** Every figure, in the order of the page. Their ids are those of the groups, and `durations`. */
export function allFigures(period: Period): readonly Figure[] {
  const [requests, ...others] = COUNTED.map(([group, title, text, none]): Figure => {
    const per = group === 'open' ? '' : period.step === 1 ? ', per minute' : `, per ${period.step} minutes`;
    const shape = LINES.includes(group) ? 'lines' : 'columns';
    const format = (value: number) => (value < 10_000 ? formatCount(value) : SHORT.format(value));
    return { id: group, title, text: text + per, none, shape, lines: linesOf(period, group), scale: 'count', format };
  });
  return [...(requests === undefined ? [] : [requests]), durations(period), ...others];
}

/** Lines of one chart. Further names share the last one. */
const MOST_LINES = 6;

/** A line for each name that occurred. A fixed one keeps its style, whatever else occurred. */
function linesOf({ slots, sum }: Period, group: Group): readonly Line[] {
  const names = FIXED[group] ?? [...namesIn(sum, group)].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  const drawn = names.slice(0, names.length > MOST_LINES ? MOST_LINES - 1 : MOST_LINES);
  const rest = names.slice(drawn.length);
  const counted = (minute: Minute, some: readonly string[]) =>
    some.reduce((total, name) => total + countOf(minute, group, name), 0);
  const lines = [...drawn.map((name) => [name]), rest].map(
    (some, at): Line => ({
      name: some === rest ? `${rest.length} others` : inWords(some.join()),
      style: (at + 1) as LineStyle,
      values: slots.map(({ minute }) => minute && counted(minute, some)),
      total: `${group === 'open' ? 'at most ' : ''}${formatCount(counted(sum, some))}`,
    }),
  );
  return lines.filter(hasValues);
}

function durations({ slots, sum }: Period): Figure {
  const lineOf = (name: string, which: 0 | 1, style: LineStyle): Line => ({
    ...{ name, style, total: formatSeconds(responseTimes(sum)[which]) },
    values: slots.map(({ minute }) => responseTimes(minute)[which]),
  });
  return {
    ...{ id: 'durations', title: 'Response time', shape: 'lines', scale: 'seconds', format: formatSeconds },
    text: 'p50: half of the requests took less; p99: 99 of 100. Without streams and the site.',
    none: 'No requests were measured',
    lines: [lineOf('p50', 0, 1), lineOf('p99', 1, 5)],
  };
}
