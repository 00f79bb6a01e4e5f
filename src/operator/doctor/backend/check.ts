import type { Config } from '../../../config/schema.ts';
import type { About, CheckOutcome } from '../check.ts';
import type { Installation } from './installation.ts';

/** One check of the table. */
export interface BackendCheck extends About {
  /** `theme.name`, as used with --only and --skip. */
  readonly id: string;
  /** Whether the check has a meaning for a configuration. Checks without one are left out of the report. */
  readonly applies: (config: Config) => boolean;
  /** Throws NoAnswer and Unavailable. */
  run(installation: Installation): CheckOutcome | Promise<CheckOutcome>;
}

/** Checks by ID that apply to the same configurations. */
export function backendChecks(
  applies: BackendCheck['applies'],
  table: Readonly<Record<string, Omit<BackendCheck, 'id' | 'applies'>>>,
): readonly BackendCheck[] {
  return Object.entries(table).map(([id, check]) => ({ id, applies, ...check }));
}
