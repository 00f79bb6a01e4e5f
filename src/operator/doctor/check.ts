import type { Verdict } from './finding.ts';

export type CheckOutcome = Verdict | readonly Verdict[];

/** Finds out a fact. Rejects with Unavailable or NoAnswer. */
export type Find<F> = <K extends keyof F>(fact: K) => Promise<F[K]>;

/**
 * One check. `S` is what is examined, and `F` what can be found out about it. What people read of the check is in a YAML
 * file beside its table.
 */
export interface Check<S, F> {
  /** `theme.name`, as used with --only and --skip. */
  readonly id: string;
  /** Whether the check has a meaning for what is examined. Otherwise it is left out of the report. */
  readonly when: (examined: S) => boolean;
  /** The facts that the check needs. If one is unavailable, the check is skipped with the reason. */
  readonly needs: readonly (keyof F)[];
  /** Throws NoAnswer and Unavailable. */
  run(known: S & Partial<F>): CheckOutcome | Promise<CheckOutcome>;
}

/** Checks by id. `K` is what each of them gets: what is examined, and the facts that it needs. */
export type CheckTable<K> = Readonly<Record<string, (known: K) => CheckOutcome | Promise<CheckOutcome>>>;

/** Returns what makes checks of a table in which all need the same facts, and have a meaning for the same. */
export function checksOf<S, F>() {
  return <const N extends keyof F>(
    needs: readonly N[],
    table: CheckTable<S & Pick<F, N>>,
    when: (examined: S) => boolean = () => true,
  ): readonly Check<S, F>[] =>
    // The runner gives a check every fact that it needs.
    Object.entries(table).map(([id, run]) => ({ id, when, needs, run: run as Check<S, F>['run'] }));
}
