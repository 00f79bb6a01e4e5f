/** A day and an hour in seconds. */
export const DAY = 86_400;
export const HOUR = 3_600;

/** Converts milliseconds since the epoch to whole Unix seconds, the unit of all times of this school. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** The start of the day (UTC) in Unix seconds, for a time in milliseconds. */
export function startOfDay(milliseconds: number): number {
  return Math.floor(unixSeconds(milliseconds) / DAY) * DAY;
}
