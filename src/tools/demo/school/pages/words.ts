import type { Enrolment } from '../data/enrolments.ts';

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Formats Unix seconds as a date. */
function dayOf(seconds: number): string {
  return DATE.format(seconds * 1000);
}

/** Formats seconds as m:ss. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** Formats cents as a price in euros. */
export function priceOf(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

/** Describes how long the access lasts. `now` is in Unix seconds. */
export function accessOf({ expiresAt }: Enrolment, now: number): string {
  if (expiresAt === 0) return 'Lifetime access';
  return expiresAt > now ? `Access until ${dayOf(expiresAt)}` : `Access ended on ${dayOf(expiresAt)}`;
}
