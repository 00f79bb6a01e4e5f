import { invalidRequest } from '../../../errors.ts';
import { MINUTE, minuteOf } from '../../../operations/record/minute.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, withQuery } from '../paths.ts';

export type HistoryRange = ReturnType<typeof rangeOf>;

export const AROUND = {
  5: '± 5 minutes',
  30: '± 30 minutes',
  day: '24 h before',
} as const;

/** The id of the minute that was asked for. */
export const ASKED = 'asked';

type Query = Readonly<Record<string, string>>;

const DAY = 24 * 60;

/**
 * What `at` (a time such as 2026-11-24T10:40) and `around` of the query ask for: the minutes that are shown, since the
 * epoch, of which `to` is the last one, and the minute that was asked for. Without a time it is the last hour; of one
 * member or app, the last day. Throws GatewayError `invalid_request`.
 */
export function rangeOf(query: Query, times: Times, now: number) {
  const { at = '', around, member, app } = query;
  const parsed = times.parse(at);
  if (at !== '' && parsed === undefined) throw invalidRequest('The time must be written like 2026-11-24T10:40.');
  const asked = parsed === undefined ? undefined : minuteOf(parsed);
  const isOfOne = (member ?? '') !== '' || (app ?? '') !== '';
  const usual = isOfOne ? 'day' : asked === undefined ? 30 : 5;
  const chosen = around === 'day' || around === '5' || around === '30' ? around : String(usual);
  const current = minuteOf(now);
  if (chosen === 'day') {
    const to = asked ?? current;
    return { from: to - DAY + 1, to, asked, around: 'day' as const };
  }
  const before = chosen === '5' ? 5 : 30;
  const middle = asked ?? current - before;
  return { from: middle - before, to: Math.min(middle + before, current), asked, around: before };
}

/** Where the minutes just before and after a range are shown; undefined for what has not come yet. */
export function neighbours({ from, to, around }: HistoryRange, query: Query, times: Times, now: number) {
  const address = (at: number) =>
    withQuery(pathOf('history'), { ...query, at: times.field(at * MINUTE), around: String(around) });
  const [back, forth] = around === 'day' ? [1, DAY] : [around + 1, around + 1];
  return { earlier: address(from - back), later: to >= minuteOf(now) ? undefined : address(to + forth) };
}

/** The page about one time, in milliseconds since the epoch. */
export function pathOfTime(at: number, times: Times): string {
  return `${withQuery(pathOf('history'), { at: times.field(at) })}#${ASKED}`;
}
