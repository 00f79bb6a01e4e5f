import type { Family, Stand } from './stand.ts';

const counts = new Map<string, number>();

/** The number of failures that are reported. */
const SHOWN = 20;

/**
 * Makes every attempt of a family, one after the other, so that each upstream request belongs to a known attempt.
 * Returns the failures: the name of the attempt, its bytes, and the unmet expectations.
 */
export async function makeAttempts<S extends Stand>(stand: S, family: Family<S>): Promise<string[]> {
  const failures: string[] = [];
  let count = 0;
  const attempts = await family.attempts(stand);
  for (const attempt of attempts) {
    const flaws = await stand.attempt(attempt);
    count += 1;
    if (flaws.length > 0) failures.push(`${attempt.name}: ${flaws.join('; ')}\n    ${shown(attempt.bytes)}`);
  }
  failures.push(...((await family.after?.(stand)) ?? []), ...stand.settled());
  counts.set(family.name, (counts.get(family.name) ?? 0) + count);
  const more = failures.length - SHOWN;
  return [...failures.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more of ${count}`] : [])];
}

/** The number of attempts so far, by family. */
export function made(): readonly (readonly [family: string, count: number])[] {
  return [...counts];
}

function shown(bytes: string): string {
  const text = JSON.stringify(bytes);
  return text.length > 600 ? `${text.slice(0, 500)} … ${bytes.length} bytes` : text;
}
