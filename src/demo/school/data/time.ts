/** A day and an hour in seconds. */
export const DAY = 86_400;
export const HOUR = 3_600;

/** In: milliseconds since the epoch. Out: whole unix seconds, the way this school writes every time. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** In: milliseconds since the epoch. Out: the start of that day (UTC) in unix seconds. */
export function startOfDay(milliseconds: number): number {
  return Math.floor(unixSeconds(milliseconds) / DAY) * DAY;
}
