import { TIME_UNITS } from '../../../authorization-server/pages/dates.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Clock } from '../../../storage/store.ts';

/** How the pages of the console show times: in English. All functions take milliseconds since the epoch. */
export interface Times {
  /** `14:05` */
  time(at: number): string;
  /** `14:05`, or on another day than today `23 Nov, 14:05` */
  sameDay(at: number): string;
  /** `23 Nov, 14:05` */
  dayAndTime(at: number): string;
  /** `14:05:09` */
  second(at: number): Html;
  /** `23 Nov 2026` */
  date(at: number): Html;
  /** `23 Nov 2026, 14:05 CET` */
  moment(at: number): Html;
  /** `5 minutes ago`, and the moment for those who point at it. */
  ago(at: number): Html;
  /** `today`, `12 days ago`: for what is known to the day (UTC) only. */
  day(at: number): Html;
  /** `23 Nov 2026, 14:05 CET (5 minutes ago)` */
  both(at: number): Html;
  /** `2026-11-23T14:05`: the value of a field for a time. */
  field(at: number): string;
  /** The inverse of `field`; undefined for any other text. Of the two that a clock set back makes equal, the earlier one. */
  parse(text: string): number | undefined;
  /** The ticks from `from` to `to` at full multiples of `every` minutes of the local day; the day at midnight. */
  ticks(from: number, to: number, every: number): readonly TimeTick[];
  /** The IANA name of the time zone. */
  readonly zone: string;
}

/** A tick of a time axis. */
export interface TimeTick {
  readonly at: number;
  readonly label: string;
}

/** All offsets from UTC are multiples of a quarter of an hour: a tick is found within five minutes. */
const FIVE_MINUTES = 300_000;

const DAY_LENGTH = 86_400_000;
/** Years that every browser and Date agree on. */
const FIELD = /^20\d\d-\d\d-\d\dT\d\d:\d\d$/;

const DAY = { day: 'numeric', month: 'short' } as const;
const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/**
 * @param timeZone - an IANA name: the time zone of the site
 * @param clock - for how long ago something was
 */
export function createTimes(timeZone: string, clock: Clock): Times {
  const formatOf = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { timeZone, ...parts });
  const [time, second] = [formatOf(TIME), formatOf({ ...TIME, second: '2-digit' })];
  const [day, date] = [formatOf(DAY), formatOf({ ...DAY, year: 'numeric' })];
  const full = formatOf({ ...DAY, year: 'numeric', ...TIME, timeZoneName: 'short' });
  const sortable = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  const field = (at: number): string => sortable.format(at).replace(' ', 'T');
  const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' });
  const byDay = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });
  const marked = (at: number, text: string, title?: string): Html =>
    html`<time datetime="${new Date(at).toISOString()}"${title !== undefined && html` title="${title}"`}>${text}</time>`;
  const ago = (at: number): string => {
    const passed = (clock() - at) / 1000;
    const [unit, length] = TIME_UNITS.find(([, length]) => Math.abs(passed) >= length) ?? [];
    return unit === undefined ? 'just now' : relative.format(-Math.trunc(passed / length), unit);
  };
  return {
    time: (at) => time.format(at),
    sameDay: (at) =>
      day.format(at) === day.format(clock()) ? time.format(at) : `${day.format(at)}, ${time.format(at)}`,
    dayAndTime: (at) => `${day.format(at)}, ${time.format(at)}`,
    second: (at) => marked(at, second.format(at)),
    date: (at) => marked(at, date.format(at)),
    moment: (at) => marked(at, full.format(at)),
    ago: (at) => marked(at, ago(at), full.format(at)),
    day: (at) => {
      const days = Math.floor(at / DAY_LENGTH) - Math.floor(clock() / DAY_LENGTH);
      return marked(at, byDay.format(days, 'day'), date.format(at));
    },
    both: (at) => html`${marked(at, full.format(at))} <span class="muted">(${ago(at)})</span>`,
    field,
    parse(text) {
      const asUtc = FIELD.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
      if (Number.isNaN(asUtc)) return undefined;
      // The offset may change within a day of the time.
      const possible = [-DAY_LENGTH, DAY_LENGTH].map((by) => 2 * asUtc + by - Date.parse(`${field(asUtc + by)}Z`));
      return possible.toSorted((a, b) => a - b).find((at) => field(at) === text) ?? possible[0];
    },
    ticks(from, to, every) {
      const ticks: TimeTick[] = [];
      for (let at = Math.ceil(from / FIVE_MINUTES) * FIVE_MINUTES; at <= to; at += FIVE_MINUTES) {
        const label = time.format(at);
        const minute = Number(label.slice(0, 2)) * 60 + Number(label.slice(3));
        if (minute % every === 0) ticks.push({ at, label: minute === 0 ? day.format(at) : label });
      }
      return ticks;
    },
    zone: timeZone,
  };
}
