import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import { BOUNDS } from '../../../operations/latency-histogram.ts';
import { countOf, type Minute, namesIn } from '../../../operations/record/minute.ts';
import { formatCount } from '../traffic/figures.ts';
import type { HistoryRow } from './rows.ts';

/** Seconds beyond which an answer of an upstream is slow. */
const SLOW = 1;
const FIRST_SLOW_BUCKET = BOUNDS.indexOf(SLOW) + 1;
/** Reasons that are named; the others share an entry. */
const MOST_NAMED = 5;

/**
 * What was counted in a minute and is not ordinary.
 * @param brokenSince - for each upstream that is left alone, the time since when, as text; undefined if that is not known
 */
export function countedRows(minute: Minute, brokenSince: ReadonlyMap<string, string | undefined>): HistoryRow[] {
  return [
    ...[...namesIn(minute, 'gate')].map(gate),
    ...store(minute),
    ...[...brokenSince].map(broken),
    ...upstreams(minute),
    ...reasons(minute, 'failures', { kind: 'failures', level: 'bad', noun: 'failure' }, 'failed'),
    ...reasons(minute, 'refusals', { kind: 'refusals', level: 'warn', noun: 'refusal' }, 'refused'),
    ...reasons(
      minute,
      'sign-ins',
      { kind: 'refusals', level: 'warn', noun: 'failed sign-in' },
      'failed to sign a member in',
    ),
  ];
}

/** @param what - `started` or `ended` */
function gate([what, count]: readonly [string, number]): HistoryRow {
  const state = `${count === 1 ? 'gate' : `${count} gates`} ${what}`;
  return { kind: 'gate', level: 'plain', text: html`${count === 1 && 'A '}${state}`, count, noun: what, state };
}

function store(minute: Minute): HistoryRow[] {
  const count = countOf(minute, 'store', 'failed');
  const text = html`${counted(count, 'operation')} of the store failed`;
  return count === 0 ? [] : [{ kind: 'gate', level: 'bad', text, count, noun: 'store failure' }];
}

function broken([name, since]: readonly [string, string | undefined]): HistoryRow {
  const text = html`<b><bdi>${name}</bdi></b> has given no response${since !== undefined && ` since ${since}`}: requests to it get 503 at once`;
  return { kind: 'failures', level: 'bad', text, count: 1, noun: name, state: `${name} down` };
}

function upstreams(minute: Minute): HistoryRow[] {
  const names = new Set((['upstreams', 'unanswered'] as const).flatMap((of) => [...namesIn(minute, of).keys()]));
  return [...names].flatMap((name): HistoryRow[] => {
    const of = (group: 'upstreams' | 'errors' | 'unanswered') => countOf(minute, group, name);
    const buckets = minute.latencies.get(`upstream ${name}`) ?? [];
    const slow = buckets.slice(FIRST_SLOW_BUCKET).reduce((sum, count) => sum + count, 0);
    const answers = counted(of('upstreams'), 'request');
    const row = (level: HistoryRow['level'], count: number, noun: string, said: string): HistoryRow[] =>
      count === 0 ? [] : [{ kind: 'failures', level, text: html`<b><bdi>${name}</bdi></b> ${said}`, count, noun }];
    return [
      ...row(
        'bad',
        of('unanswered'),
        'unanswered request',
        `gave no response to ${counted(of('unanswered'), 'request')}`,
      ),
      ...row('bad', of('errors'), '5xx response', `answered ${formatCount(of('errors'))} of ${answers} with 5xx`),
      ...row('warn', slow, 'slow response', `took more than ${SLOW} s to answer ${formatCount(slow)} of ${answers}`),
    ];
  });
}

/** One row for all names of a group. Requests without a token, with which every connection begins, are not counted. */
function reasons(
  minute: Minute,
  group: 'failures' | 'refusals' | 'sign-ins',
  row: Pick<HistoryRow, 'kind' | 'level' | 'noun'>,
  happened: string,
): HistoryRow[] {
  const all = [...namesIn(minute, group)]
    .filter(([name]) => name !== 'success' && name !== 'no_token')
    .toSorted(([, a], [, b]) => b - a);
  const sum = (names: typeof all) => names.reduce((total, [, count]) => total + count, 0);
  const [named, rest] = [all.slice(0, MOST_NAMED), all.slice(MOST_NAMED)];
  const list = named.map(([name, count]) => `${formatCount(count)} ${name.replaceAll('_', ' ')}`);
  if (rest.length > 0) list.push(`${formatCount(sum(rest))} for ${counted(rest.length, 'other reason')}`);
  const [count, bare] = [sum(all), countOf(minute, group, 'no_token')];
  const text = html`${counted(count, 'request')} ${happened}: ${list.join(', ')}`;
  const begun = html`${counted(bare, 'request')} without a token, with which every connection begins`;
  return [
    ...(count === 0 ? [] : [{ ...row, text, count }]),
    ...(bare === 0 ? [] : [{ ...row, level: 'plain' as const, text: begun, count: 0 }]),
  ];
}
