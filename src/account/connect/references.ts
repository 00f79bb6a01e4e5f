import { checkCall } from './methods.ts';
import { chainsOf, type Selection, type Variable } from './syntax.ts';

/** The variables that may be named somewhere, each with the keys it has there. */
export type Allowed = Readonly<Partial<Record<Variable, ReadonlySet<string>>>>;

/** The member of the verified token: the only place a member's id comes from. */
export const CONTEXT_KEYS: ReadonlySet<string> = new Set(['sub', 'email', 'name']);
export const PAGE_KEYS: ReadonlySet<string> = new Set(['number', 'size']);

/**
 * Checks what a text names: methods and their arguments, variables and their keys. In: the parsed text, what its place
 * allows, whether there is data to read here (a path has none), where to report. Out: the keys it names by variable.
 */
export function checkReferences(
  selection: Selection,
  allowed: Allowed,
  data: boolean,
  report: (at: number, message: string) => void,
): ReadonlyMap<Variable, ReadonlySet<string>> {
  const named = new Map<Variable, Set<string>>();
  for (const { head, steps, at } of chainsOf(selection)) {
    for (const step of steps) {
      const wrong = step.kind === 'method' ? checkCall(step.name, step.args) : undefined;
      if (wrong !== undefined) report(step.at, wrong);
    }
    if (head.kind === 'variable') {
      const keys = allowed[head.name];
      const key = steps[0]?.kind === 'key' ? steps[0].name : undefined;
      if (keys === undefined) report(at, `$${head.name} has no meaning here`);
      else if (key === undefined) report(at, `name what of $${head.name}: ${list(keys)}`);
      else if (!keys.has(key)) report(at, `$${head.name} has no ${key}, only ${list(keys)}`);
      else named.set(head.name, (named.get(head.name) ?? new Set()).add(key));
    } else if (!data && head.kind !== 'literal') {
      report(
        at,
        `there is no data here: begin with ${Object.keys(allowed)
          .map((name) => `$${name}`)
          .join(' or ')}`,
      );
    }
  }
  return named;
}

function list(keys: ReadonlySet<string>): string {
  return keys.size === 0 ? 'nothing' : [...keys].join(', ');
}
