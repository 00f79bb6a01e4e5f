import type { Connection, Token } from './known.ts';

/** Every code and token that a client was told, by its value, and the commit that issued it. */
export type GivenTokens = ReturnType<typeof createGivenTokens>;

/** @param now - simulated milliseconds */
export function createGivenTokens(now: () => number) {
  const tokens = new Map<string, Token>();
  /** The number of the last commit that issued something, by what was presented, or by the work. */
  const commits = new Map<string, number>();
  const shownBy = new Map<string, string>();

  const add = (token: Omit<Token, 'told' | 'lostAt' | 'successors'>): Token => {
    const added: Token = { ...token, told: now(), lostAt: undefined, successors: [] };
    tokens.set(added.value, added);
    return added;
  };
  return {
    /** The work with this name presents a token. */
    shows: (work: string, shown: Token) => shownBy.set(work, shown.name),
    /** It has issued something. */
    issued: (work: string, number: number) => commits.set(shownBy.get(work) ?? work, number),
    code: (connection: Connection, value: string, work: string): Token =>
      add({
        name: `code ${connection.number}`,
        kind: 'code',
        value,
        connection,
        generation: 0,
        from: undefined,
        commit: commits.get(work) ?? 0,
      }),
    /** A token in an answer: one that is known, or a new one. */
    of(value: unknown, kind: Token['kind'], from: Token): Token {
      const known = tokens.get(String(value));
      if (known !== undefined) return known;
      const { connection } = from;
      const generation = from.kind === 'code' ? 0 : from.generation + 1;
      const base = `${kind === 'access' ? 'A' : 'R'}${connection.number}.${generation}`;
      const twins = [...tokens.values()].filter(({ name }) => name.replace(/[a-z]$/, '') === base).length;
      const name = twins === 0 ? base : base + 'abcdefghijklmnopqrstuvwxyz'[twins];
      return add({
        name,
        kind,
        value: String(value),
        connection,
        generation,
        from,
        commit: commits.get(from.name) ?? 0,
      });
    },
    /** Those that were issued by commits after this one. */
    after: (last: number): readonly Token[] => [...tokens.values()].filter(({ commit }) => commit > last),
  };
}
