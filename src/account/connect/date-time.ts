import { instantOf } from './zoned-time.ts';

/**
 * Date formats of legacy systems: Unix seconds, Unix milliseconds, SQL text in local time or in UTC, and ISO 8601 with an
 * offset or in local time. SQL text may have a T between date and time, as in WordPress. A date alone is its midnight.
 */
export const DATE_FORMATS = ['unix', 'unix_ms', 'sql', 'sql_utc', 'iso'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];

/** The formats that have no offset, and are therefore read in a time zone. ISO text may have one. */
export const LOCAL_FORMATS: readonly unknown[] = ['sql', 'iso'] satisfies DateFormat[];

const LOCAL = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?)?$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
/** What databases store for "no date". */
const ZERO_DATE = /^0000-00-00/;

/**
 * Converts an upstream's value to the DateTime scalar, such as '2026-12-01T18:00:00Z': whole seconds in UTC. Null for 0
 * and for a zero date; undefined when the value is not in the given format.
 *
 * @param timeZone - the IANA time zone of local times
 */
export function toDateTime(value: unknown, format: DateFormat, timeZone: string): string | null | undefined {
  if (format === 'unix' || format === 'unix_ms') {
    if (typeof value !== 'number') return undefined;
    return value === 0 ? null : formatInstant(format === 'unix' ? value * 1000 : value);
  }
  if (typeof value !== 'string') return undefined;
  if (value === '' || ZERO_DATE.test(value)) return null;
  if (format === 'iso' && ISO.test(value)) return formatInstant(Date.parse(value));
  const [, date, time = '00:00'] = LOCAL.exec(value) ?? [];
  if (date === undefined) return undefined;
  const local = Date.parse(`${date}T${time}Z`);
  return formatInstant(format === 'sql_utc' ? local : instantOf(local, timeZone));
}

function formatInstant(milliseconds: number): string | undefined {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) return undefined;
  // With a four-digit year, the fraction is always at the same position.
  return `${date.toISOString().slice(0, 19)}Z`;
}
