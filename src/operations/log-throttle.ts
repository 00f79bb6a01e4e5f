import type { Clock } from '../storage/store.ts';

export interface LogThrottleOptions {
  readonly clock: Clock;
  /** Lines per minute, for all keys together. */
  readonly lines: number;
  /** Minimum milliseconds between two lines of the same key. */
  readonly apart: number;
}

/** Calls `write` with the number of calls suppressed for this key since its last line, or suppresses this one. */
export type LogThrottle = (key: string, write: (suppressed: number) => void) => void;

const MINUTE = 60_000;
/** Keys that are remembered. All are cleared when there are more. */
const MOST = 10_000;

/**
 * Limits log lines that anyone can trigger at will, so that they cannot fill the disk. Suppressed lines are counted,
 * not lost.
 */
export function createLogThrottle({ clock, lines, apart }: LogThrottleOptions): LogThrottle {
  const keys = new Map<string, { until: number; held: number }>();
  let ends = 0;
  let written = 0;

  return (key, write) => {
    const now = clock();
    // If the clock was set back, start a new minute instead of staying silent for long.
    if (now >= ends || ends - now > MINUTE) {
      ends = now + MINUTE;
      written = 0;
    }
    let entry = keys.get(key);
    if (entry === undefined) {
      if (keys.size >= MOST) keys.clear();
      entry = { until: 0, held: 0 };
      keys.set(key, entry);
    }
    const early = now < entry.until && entry.until - now <= apart;
    if (early || written >= lines) {
      entry.held += 1;
      return;
    }
    const { held } = entry;
    entry.held = 0;
    entry.until = now + apart;
    written += 1;
    write(held);
  };
}
