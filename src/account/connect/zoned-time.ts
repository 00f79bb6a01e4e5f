/** Longer than any clock is changed by: one day before or after, the other of two offsets applies. */
const DAY = 86_400_000;

/**
 * The instant at which clocks in a time zone show a local time. Both are in milliseconds; the local time is written as if it
 * were UTC. A time that clocks show twice is the first of the two. A time that they skip is as much later as they are put
 * forward: 02:30 is 03:30. These are the rules of RFC 5545 section 3.3.5 and of Temporal's `compatible`.
 */
export function instantOf(local: number, timeZone: string): number {
  if (timeZone === 'UTC' || Number.isNaN(local)) return local;
  const before = offsetAt(local - DAY, timeZone);
  const after = offsetAt(local + DAY, timeZone);
  if (before === after || offsetAt(local - before, timeZone) === before) return local - before;
  return offsetAt(local - after, timeZone) === after ? local - after : local - before;
}

/** Creating one takes a hundred times as long as using it. Mappings and the configuration name few zones. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** How far a time zone is ahead of UTC at an instant, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const format = FORMATS.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  FORMATS.set(timeZone, format);
  // Such as '11/1/2026, GMT-04:00', and 'GMT' alone at the offset 0.
  const [, sign, hours, minutes, seconds = '0'] =
    /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(format.format(instant)) ?? [];
  if (sign === undefined) return 0;
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -size : size;
}
