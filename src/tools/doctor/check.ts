import type { Facts, Need } from './facts/facts.ts';
import type { Verdict } from './finding.ts';
import type { Site } from './site.ts';

/** One check of the table. */
export interface Check {
  /** `theme.name`, as used with --only and --skip. */
  readonly id: string;
  /** The expected state, as a statement. */
  readonly title: string;
  /** The standard and section behind the check. */
  readonly reference: string;
  /** What to change if the statement is false. */
  readonly fix: string;
  /** The facts that the check needs. If one is unavailable, the check is skipped with the reason. */
  readonly needs: readonly Need[];
  /** Examines a site. Throws NoAnswer and Unavailable. */
  run(site: Site, facts: Partial<Facts>): Promise<Verdict | readonly Verdict[]>;
}

/** Types a check so that `run` receives exactly the facts that it needs. */
export function check<const N extends readonly Need[]>(
  definition: Omit<Check, 'needs' | 'run'> & {
    readonly needs: N;
    run(site: Site, facts: Pick<Facts, N[number]>): Promise<Verdict | readonly Verdict[]>;
  },
): Check {
  return definition as unknown as Check;
}
