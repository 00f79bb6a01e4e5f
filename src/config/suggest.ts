import type { UntracedProblem } from './problems.ts';
import type { Path } from './tree.ts';

/**
 * The candidate that `wrong` is most likely a typo of, or undefined. Up to two edits per five letters count as a typo;
 * case is ignored.
 */
export function nearest(wrong: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const edits = distance(wrong.toLowerCase(), candidate.toLowerCase());
    if (edits <= Math.floor(Math.max(wrong.length, candidate.length) * 0.4) && edits < least) {
      best = candidate;
      least = edits;
    }
  }
  return best;
}

/** Returns ` (did you mean "port"?)` or ''. */
export function didYouMean(wrong: string, candidates: Iterable<string>): string {
  const candidate = nearest(wrong, candidates);
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`;
}

/** Finds a reference to something that does not exist. Values that are not text are left to the schema. */
export function unknownName(
  path: Path,
  kind: string,
  name: unknown,
  known: readonly string[],
  where = '',
): readonly UntracedProblem[] {
  if (typeof name !== 'string' || known.includes(name)) return [];
  return [{ path, at: 'value', message: `there is no ${kind} "${name}"${where}${didYouMean(name, known)}` }];
}

/** Levenshtein distance, with a swap of two neighbours counted as one edit, since "prot" for "port" is a common typo. */
function distance(from: string, to: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      const edits = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1)];
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        edits.push((previous[j - 2] ?? 0) + 1);
      next.push(Math.min(...edits));
    }
    previous = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
