/**
 * How legacy systems write a moment: Unix seconds, Unix milliseconds, SQL text in UTC (WordPress puts a T
 * between date and time), ISO 8601 with an offset.
 */
export const DATE_FORMATS = ['unix', 'unix_ms', 'sql_utc', 'iso'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];

const SQL = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d+)?$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
/** What databases write for "no date". */
const ZERO_DATE = /^0000-00-00/;

/**
 * A moment in the form of the DateTime scalar, whole seconds in UTC. In: an upstream's value and how it is written.
 * Out: '2026-12-01T18:00:00Z', null for 0 and for a zero date, or undefined when the value is no such moment.
 */
export function toDateTime(value: unknown, format: DateFormat): string | null | undefined {
  if (format === 'unix' || format === 'unix_ms') {
    if (typeof value !== 'number') return undefined;
    return value === 0 ? null : formatInstant(format === 'unix' ? value * 1000 : value);
  }
  if (typeof value !== 'string') return undefined;
  if (value === '' || ZERO_DATE.test(value)) return null;
  if (format === 'iso') return ISO.test(value) ? formatInstant(Date.parse(value)) : undefined;
  const sql = SQL.exec(value);
  return sql === null ? undefined : formatInstant(Date.parse(`${sql[1]}T${sql[2]}Z`));
}

function formatInstant(milliseconds: number): string | undefined {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) return undefined;
  // Years of four digits: the fraction is always in the same place.
  return `${date.toISOString().slice(0, 19)}Z`;
}
