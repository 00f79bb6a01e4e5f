import { explain } from './oauth/explain.ts';

export type RunStep = <T>(doing: string, work: () => Promise<T>) => Promise<T>;

/** Runs steps and prints each with its duration. Errors become ConnectErrors. */
export function steps(print: (line: string) => void, wait: ((what: string) => () => void) | undefined): RunStep {
  return async (doing, work) => {
    const begin = performance.now();
    const shown = wait?.(doing);
    try {
      const value = await work().finally(shown);
      print(`✓ ${doing} (${Math.round(performance.now() - begin)} ms)`);
      return value;
    } catch (thrown) {
      const failure = explain(thrown, doing);
      print(`${failure.end === 'declined' || failure.end === 'interrupted' ? '–' : '✗'} ${doing}`);
      throw failure;
    }
  };
}
