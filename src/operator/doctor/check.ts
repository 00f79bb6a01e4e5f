import type { Facts, Need } from './facts/facts.ts';
import type { Verdict } from './finding.ts';
import type { ExaminedSite } from './site.ts';

export type CheckOutcome = Verdict | readonly Verdict[];

export interface About {
  /** The expected state, as a statement. */
  readonly title: string;
  /** The standard and section behind the check. */
  readonly reference: string;
  /** What to change if the statement is false. */
  readonly fix: string;
}

/** One check of the table. */
export interface Check extends About {
  /** `theme.name`, as used with --only and --skip. */
  readonly id: string;
  /** The facts that the check needs. If one is unavailable, the check is skipped with the reason. */
  readonly needs: readonly Need[];
  /** Examines a site. Throws NoAnswer and Unavailable. */
  run(site: ExaminedSite, facts: Partial<Facts>): Promise<CheckOutcome>;
}

/** Checks by id that need the same facts. `run` receives these facts and the site. */
export function checks<const N extends readonly Need[]>(
  needs: N,
  table: Readonly<
    Record<string, About & { run(known: ExaminedSite & Pick<Facts, N[number]>): CheckOutcome | Promise<CheckOutcome> }>
  >,
): readonly Check[] {
  return Object.entries(table).map(([id, { run, ...about }]) => ({
    id,
    ...about,
    needs,
    run: async (site, facts) => run({ ...site, ...(facts as Pick<Facts, N[number]>) }),
  }));
}
