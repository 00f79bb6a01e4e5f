import { type Clock, jsonEntry, readJson, type Store } from '../storage/store.ts';
import type { CodeOrRefreshToken, Recalled } from './answer-replay.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const KIND = 'CodeUse';

/**
 * Tells apart the requests that present a used code. All of them are refused (RFC 6749 section 4.1.2). For `window`
 * seconds, a repeat of the request that redeemed the code ends nothing: the client sent it twice, or lost the response.
 * Any other request reuses the code.
 * @param window - seconds for which the request is remembered; 0 disables it
 */
export function codeUses(store: Store, clock: Clock, window: number) {
  return {
    /** Adds to the unit what is written in the same commit as the tokens. */
    remember({ value, grantId, question }: CodeOrRefreshToken, _body: unknown, unit: Pick<UnitOfWork, 'add'>): void {
      if (window === 0) return;
      const until = clock() + window * 1000;
      const entry = jsonEntry(KIND, value, { question, until }, Math.ceil(until / 1000), { grant: grantId });
      unit.add({ op: 'put', entry });
    },

    async recall({ value, question }: CodeOrRefreshToken): Promise<Recalled> {
      const use = await readJson<{ question: string; until: number }>(store, KIND, value);
      if (use === undefined || clock() >= use.until) return { kind: 'unknown' };
      return { kind: use.question === question ? 'repeated' : 'reused' };
    },
  };
}
