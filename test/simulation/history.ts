/** One line of a timeline. */
export interface Line {
  /** Simulated milliseconds after the beginning. */
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly answer: string;
}

/** What happened, in order, with stable names instead of ids and tokens. */
export type History = readonly Line[];

/** A timeline for people: one line for each event. */
export function timeline(history: History): string {
  const widths = (['who', 'what'] as const).map((part) =>
    Math.min(44, Math.max(0, ...history.map((line) => line[part].length))),
  );
  return history
    .map(({ at, who, what, answer }) =>
      `${at.toFixed(1).padStart(9)}  ${who.padEnd(widths[0] ?? 0)}  ${what.padEnd(widths[1] ?? 0)}  ${answer}`.trimEnd(),
    )
    .join('\n');
}
