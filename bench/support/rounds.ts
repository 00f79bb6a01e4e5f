/** Measurements by the name of the subject. The index is the round. */
export type Measured<T> = ReadonlyMap<string, readonly T[]>;

/**
 * Measures the subjects in turn, once per round and in a different order each round, so that other load on the machine affects
 * all of them alike. The first round is warm-up and is dropped. If a subject fails, the run fails.
 */
export async function inTurns<S extends { readonly name: string }, T>(
  subjects: readonly S[],
  rounds: number,
  measure: (subject: S, warming: boolean) => Promise<T>,
  say: (line: string) => void,
): Promise<Measured<T>> {
  const measured = new Map<string, T[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? '  warming up' : `  round ${round} of ${rounds}`);
    for (let at = 0; at < subjects.length; at += 1) {
      const subject = subjects[(at + round) % subjects.length] as S;
      const value = await measure(subject, round === 0);
      if (round > 0) measured.get(subject.name)?.push(value);
    }
  }
  return measured;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The median of each round's ratio, in which the conditions of that round cancel out. */
export function ratio(over: readonly number[] | undefined, under: readonly number[] | undefined): number {
  if (over === undefined || under === undefined) return Number.NaN;
  return median(over.map((value, round) => value / (under[round] ?? Number.NaN)));
}

/** The median, with minimum and maximum in brackets. */
export function spread(values: readonly number[], digits = 1): string {
  const fixed = (value: number) => value.toFixed(digits);
  return `${fixed(median(values))} (${fixed(Math.min(...values))}–${fixed(Math.max(...values))})`;
}
