import { once } from '../../http/once.ts';
import type { Find } from './check.ts';

/** How each fact is found out. One may build on others. */
export type FactFinders<S, F> = {
  readonly [K in keyof F]: (examined: S, find: Find<F>) => F[K] | Promise<F[K]>;
};

/** Finds out each fact on first use. Later uses get the same value or the same error. */
export function findFacts<S, F>(examined: S, finders: FactFinders<S, F>): Find<F> {
  const find: Find<F> = (fact) => found[fact]();
  const entries = Object.keys(finders).map((name) => {
    const finder = finders[name as keyof F];
    return [name, once(async () => finder(examined, find))];
  });
  const found: { readonly [K in keyof F]: () => Promise<F[K]> } = Object.fromEntries(entries);
  return find;
}
