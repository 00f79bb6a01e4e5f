const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Formats an amount in minor units (cents) as decimal text without going through a float: 1999 with 2 digits is '19.99'.
 * `digits` is the number of decimal places of the currency (ISO 4217). Undefined if `value` is not a whole number.
 */
export function fromMinorUnits(value: unknown, digits: number): string | undefined {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  const [, sign = '', whole, fraction] = (typeof text === 'string' && DECIMAL.exec(text)) || [];
  if (whole === undefined || fraction !== undefined) return undefined;
  const padded = whole.replace(/^0+(?=\d)/, '').padStart(digits + 1, '0');
  const point = padded.length - digits;
  const amount = digits === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`;
  return `${/[1-9]/.test(amount) ? sign : ''}${amount}`;
}

/**
 * Formats a number, or decimal text as SQL returns it, with exactly `digits` decimal places: 20 with 2 digits is '20.00'.
 * Further digits are rounded, half away from zero. Undefined if `value` is not a number.
 */
export function toDecimal(value: unknown, digits: number): string | undefined {
  const text = typeof value === 'number' && Number.isFinite(value) ? plain(value) : value;
  const [, sign = '', whole, fraction = ''] = (typeof text === 'string' && DECIMAL.exec(text)) || [];
  if (whole === undefined) return undefined;
  const kept = whole + fraction.slice(0, digits).padEnd(digits, '0');
  const up = (fraction[digits] ?? '0') >= '5' ? 1n : 0n;
  return fromMinorUnits(`${sign}${BigInt(kept) + up}`, digits);
}

/** Formats a double the way people write it: 0.1 + 0.2 as 0.3, and never as 1e-7. */
function plain(value: number): string {
  const text = String(Number(value.toPrecision(15)));
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text;
}
