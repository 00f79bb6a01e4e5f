import type { Facts, Need } from './facts/facts.ts';
import type { Verdict } from './finding.ts';
import type { Site } from './site.ts';

/** One check, as the table has it. */
export interface Check {
  /** `theme.name`: what --only and --skip take. */
  readonly id: string;
  /** What is right, as a statement. */
  readonly title: string;
  /** The standard and section that asks for it. */
  readonly reference: string;
  /** What to change when it is not so. */
  readonly fix: string;
  /** What must be known before; where it cannot be, the check is skipped with the reason. */
  readonly needs: readonly Need[];
  /** What it says of a site. Throws NoAnswer and Unavailable. */
  run(site: Site, facts: Partial<Facts>): Promise<Verdict | readonly Verdict[]>;
}

/** A check whose `run` is given exactly the facts that it needs. */
export function check<const N extends readonly Need[]>(
  definition: Omit<Check, 'needs' | 'run'> & {
    readonly needs: N;
    run(site: Site, facts: Pick<Facts, N[number]>): Promise<Verdict | readonly Verdict[]>;
  },
): Check {
  return definition as unknown as Check;
}
