import { type Html, html } from '../../http/html.ts';
import { once } from '../../http/once.ts';

/** Units of time, the largest first, with their length in seconds. */
export const TIME_UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * Formats times for one language and time zone. All functions take Unix seconds.
 * @param locales - for Intl
 * @param timeZone - an IANA name
 * @param now - in Unix seconds
 */
export function createDates(locales: readonly string[], timeZone: string, now: number) {
  // Each takes almost a tenth of a millisecond to make, and the consent page needs one of them.
  const formatOf = (options: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(locales, options));
  const short = { timeZone, day: 'numeric', month: 'short' } as const;
  const [shortDay, shortDayUtc] = [formatOf(short), formatOf({ ...short, timeZone: 'UTC' })];
  const date = { ...short, year: 'numeric' } as const;
  const day = formatOf(date);
  const moment = formatOf({ ...date, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const zone = formatOf({ timeZone, timeZoneName: 'long' });
  const marked = (seconds: number, text: string) =>
    html`<time datetime="${new Date(seconds * 1000).toISOString()}">${text}</time>`;
  return {
    /** The date. */
    day: (seconds: number): Html => marked(seconds, day().format(seconds * 1000)),
    /** The date and time, to the minute. */
    moment: (seconds: number): Html => marked(seconds, moment().format(seconds * 1000)),
    /** The date without a year, for the last weeks. */
    shortDay: (seconds: number): Html => marked(seconds, shortDay().format(seconds * 1000)),
    /** The same for days since the epoch, in UTC. */
    dayOfUse: (days: number): string => shortDayUtc().format(days * 86_400_000),
    /** The time passed, in the largest unit: "5 minutes ago". */
    ago(seconds: number): string {
      const passed = Math.max(0, now - seconds);
      const [unit, length] = TIME_UNITS.find(([, length]) => passed >= length) ?? ['minute', 60];
      // Less than a minute is "this minute". Otherwise use numbers, since “last month” can mean 2 days ago, or 40.
      const relative = new Intl.RelativeTimeFormat(locales, { numeric: passed < 60 ? 'auto' : 'always' });
      return relative.format(-Math.floor(passed / length), unit);
    },
    /** The name of the time zone. */
    get zone(): string {
      const parts = zone().formatToParts(now * 1000);
      return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
    },
  };
}

export type Dates = ReturnType<typeof createDates>;
