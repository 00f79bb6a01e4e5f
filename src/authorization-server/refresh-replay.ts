import { createHash } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import { type Clock, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'RefreshAnswer';

/** What a refresh was answered with. */
interface RefreshAnswer {
  readonly refreshToken: string;
  readonly grantId: string;
  /** What was asked besides the token: another question is not given this answer. */
  readonly question: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Recalled =
  /** The same question within the window: the same answer. */
  | { readonly kind: 'answer'; readonly body: Readonly<Record<string, unknown>> }
  /** Its successor was used already: whoever asks now has an old copy. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'unknown' };

/**
 * RFC 9700 §4.14.2 with a short memory. Clients refresh twice at once, or lose an answer on the way: for `window` seconds
 * the token that was just replaced gets the very answer that replaced it, so there is one successor however often it is
 * asked for. The answer is sealed under a key made of the old token: only who holds that can open it.
 */
export interface RefreshReplay {
  /** What to write beside the new tokens, in the same commit. */
  remember(answer: RefreshAnswer): NewEntry;
  recall(refreshToken: string, question: string): Promise<Recalled>;
}

/** In: the seconds an answer is remembered; 0: never. */
export function refreshReplay(store: Store, clock: Clock, window: number): RefreshReplay {
  return {
    remember({ refreshToken, grantId, ...answer }) {
      return {
        kind: KIND,
        id: refreshToken,
        payload: seal(keyOf(refreshToken), JSON.stringify(answer), KIND),
        expiresAt: unixSeconds(clock) + window,
        references: { grant: grantId },
      };
    },

    async recall(refreshToken, question) {
      const entry = await store.get(KIND, refreshToken);
      if (entry === undefined) return { kind: 'unknown' };
      const answer = JSON.parse(open(keyOf(refreshToken), entry.payload, KIND)) as RefreshAnswer;
      const successor = await store.get('RefreshToken', String(answer.body.refresh_token));
      if (successor === undefined || successor.consumedAt !== undefined) return { kind: 'superseded' };
      return answer.question === question ? { kind: 'answer', body: answer.body } : { kind: 'unknown' };
    },
  };
}

function keyOf(refreshToken: string): Buffer {
  return createHash('sha256').update('refresh answer\0').update(refreshToken).digest();
}
