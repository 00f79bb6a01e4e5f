import { invalidRequest } from '../../../errors.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import type { Times } from '../kit/times.ts';
import type { Explained } from './explained.ts';
import { isAbout } from './known.ts';

const MINUTE = 60_000;

/** The values of `within`, with their texts. */
export const WITHIN = [
  ['', 'Last 24 hours'],
  ['hour', 'Last hour'],
  ['quarter', 'Last 15 minutes'],
] as const;
const MINUTES: Readonly<Record<string, number>> = { '': 24 * 60, hour: 60, quarter: 15 };

/**
 * Which attempts a query asks for, by `state`, `app`, `member` (an id, or any part of a name, address or id), `cause`,
 * `within`, and `from` and `to` in the time zone of the site. Throws GatewayError `invalid_request` for other times.
 */
export function attemptFilter(
  { state = '', app = '', member = '', cause = '', within = '', from = '', to = '' }: Readonly<Record<string, string>>,
  all: readonly Explained[],
  { times, clock }: { readonly times: Pick<Times, 'parse'>; readonly clock: () => number },
): (one: Explained) => boolean {
  const [begin, end] = [from, to].map((text) => (text === '' ? undefined : times.parse(text)));
  const minutes = Object.hasOwn(MINUTES, within) ? MINUTES[within] : undefined;
  if (minutes === undefined || (from !== '' && begin === undefined) || (to !== '' && end === undefined))
    throw invalidRequest('“within” is “hour” or “quarter”, “from” and “to” are times such as 2026-11-23T14:05.');
  const since = Math.max(clock() - minutes * MINUTE, begin ?? 0);
  // The minute that is named belongs to it.
  const until = end === undefined ? Number.POSITIVE_INFINITY : end + MINUTE;
  const isWanted = isAbout({ app, member }, all);
  return (one) => {
    const { at } = lastOf(one.attempt);
    return (
      (state === '' || one.state === state) &&
      (cause === '' || one.why?.id === cause) &&
      at >= since &&
      at < until &&
      isWanted(one)
    );
  };
}
