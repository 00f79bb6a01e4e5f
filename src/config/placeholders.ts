import type { UntracedProblem } from './problems.ts';
import type { Path } from './tree.ts';

/** What `init` writes where it found nothing. It fits wherever a name, a path or a URL does, and is never valid. */
export const PLACEHOLDER = 'FILL-IN';

/** Finds every value that still has to be filled in. Takes the merged settings before they are validated. */
export function checkPlaceholders(value: unknown, path: Path = []): readonly UntracedProblem[] {
  if (typeof value === 'string')
    return value.includes(PLACEHOLDER)
      ? [{ path, at: 'value', message: `is not filled in: replace ${PLACEHOLDER} by the value of your site` }]
      : [];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => checkPlaceholders(inner, [...path, key]));
}
