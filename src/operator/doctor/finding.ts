import { printable } from '../connect/printable.ts';
import { checkTexts } from './texts.ts';

/** From good to bad. `skipped` means that the check could not run. */
export const LEVELS = ['pass', 'skipped', 'warning', 'failure'] as const;
export type Level = (typeof LEVELS)[number];

/** The result of a check: level, observation, and a fix if it is more specific than the check's own. */
export interface Verdict {
  readonly level: Level;
  readonly seen: string;
  readonly fix?: string | undefined;
}

/** An entry of the report. Its texts are safe for a terminal. */
export type Finding = ReturnType<typeof finding>;

export const pass = (seen: string): Verdict => ({ level: 'pass', seen });
export const warning = (seen: string, fix?: string): Verdict => ({ level: 'warning', seen, fix });
export const failure = (seen: string, fix?: string): Verdict => ({ level: 'failure', seen, fix });

/** Verdicts about one item; undefined and false mean that nothing is wrong. */
type Checked = Verdict | undefined | false | readonly (Verdict | undefined | false)[];

/** Checks items one after the other. Resolves to the problems, or to a pass that says `good` if there are none. */
export async function checkEach<T>(
  good: string | (() => string),
  items: Iterable<T>,
  check: (item: T) => Checked | Promise<Checked>,
): Promise<readonly Verdict[]> {
  const problems: Verdict[] = [];
  for (const item of items)
    for (const one of [await check(item)].flat()) if (one && one.level !== 'pass') problems.push(one);
  return problems.length > 0 ? problems : [pass(typeof good === 'string' ? good : good())];
}

/** Turns a result into an entry of the report. It may contain text of the server, which is made printable here. */
export function finding(id: string, { level, seen, fix }: Verdict) {
  const texts = checkTexts().get(id);
  if (texts === undefined) throw new Error(`The check ${id} has no texts.`);
  return {
    check: id,
    theme: id.split('.')[0] ?? '',
    title: texts.title,
    level,
    /** What was observed, or why the check was skipped. */
    seen: printable(seen),
    /** The standard and section behind the check. */
    reference: texts.reference,
    ...(level === 'warning' || level === 'failure' ? { fix: printable(fix ?? texts.fix) } : {}),
  };
}
