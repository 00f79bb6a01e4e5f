import type { Enrolment } from '../data/enrolments.ts';

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** In: unix seconds. Out: the day, for people. */
function dayOf(seconds: number): string {
  return DATE.format(seconds * 1000);
}

/** In: seconds. Out: minutes and seconds, as on a player. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** In: cents. Out: the price in euros. */
export function priceOf(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

/** In: an enrolment and now in unix seconds. Out: how long the access lasts, for people. */
export function accessOf({ expiresAt }: Enrolment, now: number): string {
  if (expiresAt === 0) return 'Lifetime access';
  return expiresAt > now ? `Access until ${dayOf(expiresAt)}` : `Access ended on ${dayOf(expiresAt)}`;
}
