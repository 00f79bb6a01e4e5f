const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * An amount in minor units (cents) as a decimal text, without a float in between. In: a whole number or its digits, and
 * how many digits the currency has behind the point (ISO 4217). Out: 1999 and 2 give '19.99'; undefined for no such number.
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
 * A number with exactly so many digits behind the point. In: a number, or decimal text as SQL writes it. Out: 20 and 2
 * give '20.00', '19.9' gives '19.90'; digits beyond are rounded, halves away from zero; undefined for no such number.
 */
export function toDecimal(value: unknown, digits: number): string | undefined {
  const text = typeof value === 'number' && Number.isFinite(value) ? plain(value) : value;
  const [, sign = '', whole, fraction = ''] = (typeof text === 'string' && DECIMAL.exec(text)) || [];
  if (whole === undefined) return undefined;
  const kept = whole + fraction.slice(0, digits).padEnd(digits, '0');
  const up = (fraction[digits] ?? '0') >= '5' ? 1n : 0n;
  return fromMinorUnits(`${sign}${BigInt(kept) + up}`, digits);
}

/** A double as people write it: 0.1 + 0.2 is 0.3, and never 1e-7. */
function plain(value: number): string {
  const text = String(Number(value.toPrecision(15)));
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text;
}
