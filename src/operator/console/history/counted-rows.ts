import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import { BOUNDS } from '../../../operations/latency-histogram.ts';
import { countOf, type Minute, namesIn } from '../../../operations/record/minute.ts';
import { formatCount } from '../traffic/figures.ts';
import type { HistoryRow } from './rows.ts';

/** Seconds beyond which an answer of an upstream is slow. */
const SLOW = 1;
const FIRST_SLOW_BUCKET = BOUNDS.indexOf(SLOW) + 1;

/**
 * What was counted in a minute and is not ordinary.
 * @param brokenSince - for each upstream that is left alone, the time since when, as text; undefined if that is not known
 */
export function countedRows(minute: Minute, brokenSince: ReadonlyMap<string, string | undefined>): HistoryRow[] {
  const refused = { kind: 'refusals', level: 'warn' } as const;
  return [
    ...[...namesIn(minute, 'gate')].map(gate),
    ...store(minute),
    ...[...brokenSince].map(broken),
    ...upstreams(minute),
    ...reasons(minute, 'failures', { kind: 'failures', level: 'bad', noun: 'failure' }, 'failed'),
    ...reasons(minute, 'refusals', { ...refused, noun: 'refusal' }, 'refused'),
    ...reasons(minute, 'sign-ins', { ...refused, noun: 'failed sign-in' }, 'failed to sign a member in'),
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
    const unanswered = counted(of('unanswered'), 'request');
    const rows = [
      ['bad', of('unanswered'), 'unanswered request', `gave no response to ${unanswered}`],
      ['bad', of('errors'), '5xx response', `answered ${formatCount(of('errors'))} of ${answers} with 5xx`],
      ['warn', slow, 'slow response', `took more than ${SLOW} s to answer ${formatCount(slow)} of ${answers}`],
    ] as const;
    return rows
      .filter(([, count]) => count > 0)
      .map(([level, count, noun, said]) => ({
        ...{ kind: 'failures', level, count, noun },
        text: html`<b><bdi>${name}</bdi></b> ${said}`,
      }));
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
  const list = all.map(([name, count]) => `${formatCount(count)} ${name.replaceAll('_', ' ')}`);
  const count = all.reduce((total, [, one]) => total + one, 0);
  const bare = countOf(minute, group, 'no_token');
  const text = html`${counted(count, 'request')} ${happened}: ${list.join(', ')}`;
  const begun = html`${counted(bare, 'request')} without a token, with which every connection begins`;
  return [
    ...(count === 0 ? [] : [{ ...row, text, count }]),
    ...(bare === 0 ? [] : [{ ...row, level: 'plain' as const, text: begun, count: 0 }]),
  ];
}
