/**
 * Date formats of legacy systems: Unix seconds, Unix milliseconds, SQL text in UTC (with a T between date and time in
 * WordPress), and ISO 8601 with an offset.
 */
export const DATE_FORMATS = ['unix', 'unix_ms', 'sql_utc', 'iso'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];

const SQL = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d+)?$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
/** What databases store for "no date". */
const ZERO_DATE = /^0000-00-00/;

/**
 * Converts an upstream's value to the DateTime scalar, such as '2026-12-01T18:00:00Z': whole seconds in UTC. Null for 0
 * and for a zero date; undefined when the value is not in the given format.
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
  // With a four-digit year, the fraction is always at the same position.
  return `${date.toISOString().slice(0, 19)}Z`;
}
