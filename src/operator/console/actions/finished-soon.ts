import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds. An action on very many grants goes on after its page. */
const LONGEST = 10_000;

/** Resolves with the result of `work`, or with undefined when it takes long. Its failure is reported then. */
export async function finishedSoon<T>(
  work: Promise<T>,
  onError: (error: unknown) => void,
  longest = LONGEST,
): Promise<T | undefined> {
  const cancel = new AbortController();
  const late = wait(longest, undefined, { signal: cancel.signal, ref: false }).then(
    () => {
      work.catch(onError);
      return undefined;
    },
    () => undefined,
  );
  return Promise.race([work, late]).finally(() => cancel.abort());
}
