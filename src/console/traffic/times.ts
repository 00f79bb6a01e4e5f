/** Formats times of the site's time zone. All functions take milliseconds since the epoch. */
export type Times = ReturnType<typeof createTimes>;

/** A tick of a time axis. */
export interface TimeTick {
  readonly at: number;
  readonly label: string;
}

/** All offsets from UTC are multiples of a quarter of an hour: a tick is found within five minutes. */
const FIVE_MINUTES = 300_000;

/** @param timeZone - an IANA name */
export function createTimes(timeZone: string) {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' });
  const date = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short', year: 'numeric' });
  const moment = (at: number): string => `${day.format(at)}, ${time.format(at)}`;
  return {
    /** `14:05` */
    time: (at: number): string => time.format(at),
    /** `23 Nov, 14:05` */
    moment,
    /** `23 Nov 2026, 14:05` */
    full: (at: number): string => `${date.format(at)}, ${time.format(at)}`,
    /** The ticks from `from` to `to` at full multiples of `every` minutes of the local day; the date at midnight. */
    ticks(from: number, to: number, every: number): readonly TimeTick[] {
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
