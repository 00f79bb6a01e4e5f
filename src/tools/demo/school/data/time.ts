/** A day and an hour in seconds. All times of this school are in Unix seconds. */
export const DAY = 86_400;
export const HOUR = 3_600;
