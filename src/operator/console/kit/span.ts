import { counted } from '../../../http/amounts.ts';

/** With their seconds, the largest first. A span of fewer than two is more exact in the next one. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
] as const;

/** A span of time in words, rounded down: `3 days`, `90 minutes`. */
export function span(seconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? (['minute', 60] as const);
  return seconds >= 60 ? counted(Math.floor(seconds / length), unit) : 'less than a minute';
}
