import type { Clock } from '../storage/store.ts';

export interface RationOptions {
  readonly clock: Clock;
  /** Lines a minute, of whatever keys. */
  readonly lines: number;
  /** Milliseconds from one line of a key to its next. */
  readonly apart: number;
}

/** Calls `tell`, or counts: with how many of the same key were only counted since it was told of last. */
export type Ration = (key: string, tell: (suppressed: number) => void) => void;

const MINUTE = 60_000;
/** Keys that are remembered; when there are more, it starts anew. */
const MOST = 10_000;

interface Told {
  until: number;
  held: number;
}

/** So that what anybody can make happen as often as they like fills no disk, and is not lost either: it is counted. */
export function createRation({ clock, lines, apart }: RationOptions): Ration {
  const keys = new Map<string, Told>();
  let ends = 0;
  let written = 0;

  return (key, tell) => {
    const now = clock();
    // A clock that was set back begins a new minute, rather than a long silence.
    if (now >= ends || ends - now > MINUTE) {
      ends = now + MINUTE;
      written = 0;
    }
    let told = keys.get(key);
    if (told === undefined) {
      if (keys.size >= MOST) keys.clear();
      told = { until: 0, held: 0 };
      keys.set(key, told);
    }
    const early = now < told.until && told.until - now <= apart;
    if (early || written >= lines) {
      told.held += 1;
      return;
    }
    const { held } = told;
    told.held = 0;
    told.until = now + apart;
    written += 1;
    tell(held);
  };
}
