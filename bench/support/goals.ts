/** A performance goal, and the measured value. */
export interface Goal {
  readonly what: string;
  readonly most: number;
  readonly unit: string;
  /** Undefined if it was not measured in this run. */
  readonly measured: number | undefined;
}

/** Rows of the table of goals at the end of a report. */
export function goalRows(goals: readonly Goal[]): string[][] {
  return goals.map(({ what, most, unit, measured }) => [
    what,
    `≤ ${most}${unit}`,
    measured === undefined || Number.isNaN(measured) ? 'not measured' : `${measured.toFixed(2)}${unit}`,
    measured === undefined || Number.isNaN(measured) ? '' : measured <= most ? 'met' : '**missed**',
  ]);
}
