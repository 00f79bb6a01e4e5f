import { setTimeout as sleep } from 'node:timers/promises';

const MOST_TRIES = 20;

/** Retries after a 503, as clients should: on a busy machine, a store may respond too late, and nothing is lost. */
export async function patiently<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask();
    if (answer.status !== 503 || tries === MOST_TRIES) return answer;
    await sleep(200);
  }
}

/** Restarts the whole sign-in if a step fails, for the same reason: it only prepares the test. */
export async function insistently<T>(prepare: () => Promise<T>, mostTries = MOST_TRIES): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await prepare();
    } catch (thrown) {
      if (tries === mostTries) throw thrown;
      await sleep(200);
    }
  }
}
