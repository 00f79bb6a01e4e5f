/** Measurements by the name of the subject. The index is the round. */
export type Measured<T> = ReadonlyMap<string, readonly T[]>;

export interface Named {
  readonly name: string;
  /** The subject that this one is a second start of. Any difference between the two is an error of the measurement. */
  readonly twinOf?: string | undefined;
}

/** The name of the second start of a subject. */
export function twin(name: string): string {
  return `${name}, again`;
}

/**
 * Measures the subjects in turn, one slice each per round and in a different order each round, so that other load on the machine
 * affects all of them alike. The first round is warm-up and is dropped. If a subject fails, the run fails.
 */
export async function inTurns<S extends Named, T>(
  subjects: readonly S[],
  rounds: number,
  measure: (subject: S, warming: boolean) => Promise<T>,
): Promise<Measured<T>> {
  const measured = new Map<string, T[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of orderOf(subjects, round)) {
      const value = await measure(subject, round === 0);
      if (round > 0) measured.get(subject.name)?.push(value);
    }
  }
  return measured;
}

/** Rotated each round, and every other round reversed, so that no subject always follows the same one. */
function orderOf<S>(subjects: readonly S[], round: number): readonly S[] {
  const first = round % subjects.length;
  const rotated = [...subjects.slice(first), ...subjects.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}
