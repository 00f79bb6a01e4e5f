import { printable } from '../connect/printable.ts';

/** From good to bad. `skipped` is neither: what was to be looked at could not be. */
export const LEVELS = ['pass', 'skipped', 'warning', 'failure'] as const;
export type Level = (typeof LEVELS)[number];

/** What a check says: how bad, what was seen, and a fix where it is a more exact one than the check's own. */
export interface Verdict {
  readonly level: Level;
  readonly seen: string;
  readonly fix?: string;
}

/** One line of the report. Its texts are safe for a terminal. */
export interface Finding {
  readonly check: string;
  readonly theme: string;
  readonly title: string;
  readonly level: Level;
  /** What was seen, or why nothing was. */
  readonly seen: string;
  /** The standard and section that asks for it. */
  readonly reference: string;
  /** What to change; only where there is something to change. */
  readonly fix?: string;
}

export const pass = (seen: string): Verdict => ({ level: 'pass', seen });
export const warning = (seen: string, fix?: string): Verdict => verdict('warning', seen, fix);
export const failure = (seen: string, fix?: string): Verdict => verdict('failure', seen, fix);

function verdict(level: Level, seen: string, fix: string | undefined): Verdict {
  return fix === undefined ? { level, seen } : { level, seen, fix };
}

/** The problems, or that all was well. */
export function problemsOr(problems: readonly Verdict[], seen: string): readonly Verdict[] {
  return problems.length > 0 ? problems : [pass(seen)];
}

/** A verdict as a line of the report. What a server said stands in it, so it is made safe here, once for all. */
export function finding(
  check: { readonly id: string; readonly title: string; readonly reference: string; readonly fix: string },
  { level, seen, fix = check.fix }: Verdict,
): Finding {
  return {
    check: check.id,
    theme: check.id.split('.')[0] ?? '',
    title: check.title,
    level,
    seen: printable(seen),
    reference: check.reference,
    ...(level === 'warning' || level === 'failure' ? { fix: printable(fix) } : {}),
  };
}
