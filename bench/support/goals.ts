/** One goal of the proxy, and what was measured of it. */
export interface Goal {
  readonly what: string;
  readonly most: number;
  readonly unit: string;
  /** undefined: it was not measured in this run. */
  readonly measured: number | undefined;
}

/** Rows of the table that the report ends with. */
export function goalRows(goals: readonly Goal[]): string[][] {
  return goals.map(({ what, most, unit, measured }) => [
    what,
    `≤ ${most}${unit}`,
    measured === undefined || Number.isNaN(measured) ? 'not measured' : `${measured.toFixed(2)}${unit}`,
    measured === undefined || Number.isNaN(measured) ? '' : measured <= most ? 'met' : '**missed**',
  ]);
}
