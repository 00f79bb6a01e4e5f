import { setTimeout as sleep } from 'node:timers/promises';

const MOST_TRIES = 20;

/** Asks again after a 503, as clients are told to: on a busy machine a store may answer too late, which is no loss. */
export async function patiently<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask();
    if (answer.status !== 503 || tries === MOST_TRIES) return answer;
    await sleep(200);
  }
}

/** Begins a whole sign-in again when a step of it fails, for the same reason: it only prepares what is judged. */
export async function insistently<T>(prepare: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await prepare();
    } catch (thrown) {
      if (tries === MOST_TRIES) throw thrown;
      await sleep(200);
    }
  }
}
