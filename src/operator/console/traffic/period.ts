import { addMinute, emptyMinute, isState, MINUTE, type Minute, minuteOf } from '../../../operations/record/minute.ts';
import type { TrafficMinutes } from '../../../operations/record/minutes.ts';

export type PeriodName = 'hour' | 'day';

/** The last hour by minutes, or the last day by ten minutes. It ends with the last slot that is over. */
export type Period = Awaited<ReturnType<typeof readPeriod>>;

const SPANS = { hour: { step: 1, slots: 60 }, day: { step: 10, slots: 144 } } as const;

/** @param now - in milliseconds since the epoch */
export async function readPeriod(traffic: Pick<TrafficMinutes, 'recent'>, span: PeriodName, now: number) {
  /** Minutes of one slot. */
  const { step, slots: most } = SPANS[span];
  const end = Math.floor(minuteOf(now) / step);
  const first = end - most;
  // Not complete if other replicas and earlier processes could not be read.
  const { minutes, complete } = await traffic.recent(first * step);
  const slots = Array.from({ length: most }, (_, at) => {
    const from = (first + at) * step;
    const measured = Array.from({ length: step }, (_, minute) => minutes.get(from + minute)).filter(
      (minute) => minute !== undefined,
    );
    // It begins `at` milliseconds since the epoch, and has no `minute` if no process measured it.
    return { at: from * MINUTE, minute: measured.length === 0 ? undefined : together(measured) };
  });
  /** Everything that happened in the period. `open` is the most that were open at the end of a minute. */
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
