import { addMinute, emptyMinute, isState, MINUTE, type Minute, minuteOf } from '../../../operations/record/minute.ts';
import type { TrafficMinutes } from '../../../operations/record/minutes.ts';

/** A part of a period, and what happened in it. */
interface Slot {
  /** Its beginning, in milliseconds since the epoch. */
  readonly at: number;
  /** Undefined if no process measured it. */
  readonly minute: Minute | undefined;
}

export type PeriodName = 'hour' | 'day';

/** The last hour by minutes, or the last day by ten minutes. It ends with the last slot that is over. */
export interface Period {
  readonly span: PeriodName;
  /** Minutes of one slot. */
  readonly step: number;
  readonly slots: readonly Slot[];
  /** Everything that happened in the period. `open` is the most that were open at the end of a minute. */
  readonly sum: Minute;
  /** False if other replicas and earlier processes could not be read. */
  readonly complete: boolean;
}

const SPANS = { hour: { step: 1, slots: 60 }, day: { step: 10, slots: 144 } } as const;

/** @param now - in milliseconds since the epoch */
export async function readPeriod(
  traffic: Pick<TrafficMinutes, 'recent'>,
  span: PeriodName,
  now: number,
): Promise<Period> {
  const { step, slots: most } = SPANS[span];
  const end = Math.floor(minuteOf(now) / step);
  const first = end - most;
  const { minutes, complete } = await traffic.recent(first * step);
  const slots = Array.from({ length: most }, (_, at): Slot => {
    const from = (first + at) * step;
    const measured = Array.from({ length: step }, (_, minute) => minutes.get(from + minute)).filter(
      (minute) => minute !== undefined,
    );
    return { at: from * MINUTE, minute: measured.length === 0 ? undefined : together(measured) };
  });
  const sum = together(slots.flatMap(({ minute }) => minute ?? []));
  return { span, step, slots, sum, complete };
}

/** Adds minutes up that follow each other. */
function together(minutes: readonly Minute[]): Minute {
  const sum = emptyMinute();
  for (const minute of minutes) {
    const open = [...minute.counts].filter(([key]) => isState(key));
    const before = open.map(([key]) => [key, sum.counts.get(key) ?? 0] as const);
    addMinute(sum, minute);
    for (const [at, [key, most]] of before.entries()) sum.counts.set(key, Math.max(most, open[at]?.[1] ?? 0));
  }
  return sum;
}
