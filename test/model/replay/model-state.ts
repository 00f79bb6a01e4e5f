import type { State, Trace } from '../trace.ts';

/** Reads a moment of the model. */
export interface Moment {
  readonly has: (set: string, name: string) => boolean;
  /** What a field has for a name: `of('phase', 'Request0')`. */
  readonly of: (field: string, name: string) => readonly string[];
  /** The refresh token of a connection in a copy of the store. */
  readonly present: (copy: string, connection: string) => string | undefined;
  /** Whether an access token is active: it, or what it was exchanged for, is present. */
  readonly active: (pair: string) => boolean;
}

/** @param given - what does not change in a trace */
export function moment(state: State, given: State): Moment {
  const of = (field: string, name: string) =>
    (state[field] ?? given[field] ?? [])
      .filter((one) => one.startsWith(`${name}->`))
      .map((one) => one.slice(name.length + 2));
  const present = (copy: string, connection: string) =>
    of('present', copy).find((pair) => of('grant', pair).includes(connection));
  return {
    has: (set, name) => (state[set] ?? given[set] ?? []).includes(name),
    of,
    present,
    active(pair) {
      const [connection = ''] = of('grant', pair);
      if (!of('live', 'Primary').includes(connection)) return false;
      for (let one = present('Primary', connection); one !== undefined; [one] = of('from', one))
        if (one === pair) return true;
      return false;
    },
  };
}

const GENERATIONS = ['First', 'Second', 'Third', 'Fourth'];

/** How often the family of a refresh token was refreshed before it. */
export function generationOf(given: State, pair: string): number {
  const [name = ''] = moment(given, given).of('generation', pair);
  return GENERATIONS.indexOf(name);
}

export function described({ scene, steps }: Trace, at: number): string {
  const step = steps[at];
  const about = Object.values(step?.about ?? {}).join(' ');
  const before = steps.slice(0, at).map(({ event }) => event);
  return `${scene}: ${[...before, `${step?.event ?? 'start'} ${about}`].join(', ')}`;
}
