import { createHash } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import { type Clock, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';

/** What a token request exchanges: a code or a refresh token, each good for one answer. */
export interface Presented {
  readonly grantType: 'authorization_code' | 'refresh_token';
  /** The code or refresh token. */
  readonly value: string;
  /** What only the rightful holder of a code has besides it (RFC 7636 §4.5); empty for a refresh token. */
  readonly verifier: string;
  readonly grantId: string;
  /** What was asked besides: another question is not given this answer. */
  readonly question: string;
}

type Body = Readonly<Record<string, unknown>>;

export type Recalled =
  /** The same question within the window: the same answer. */
  | { readonly kind: 'answer'; readonly body: Body }
  /** What was answered was used to go on, or is gone: whoever asks now has an old copy. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'another-question' }
  /** Nothing was answered, or it was too long ago. */
  | { readonly kind: 'unknown' };

/** What is kept: which question was given which body. */
interface KeptAnswer {
  readonly question: string;
  readonly body: Body;
}

/**
 * RFC 9700 §4.14.2 and §4.5 with a short memory. Clients ask twice at once, or lose an answer on the way: for `window`
 * seconds the same request gets the very same answer, so there is one token set however often it is asked for. The
 * answer is sealed under a key made of what was presented, a code together with its verifier: a dump of the store opens
 * none, not even for who has read the code somewhere.
 */
export interface AnswerReplay {
  /** Out: what to write beside the new tokens, in the same commit; nothing when nothing is remembered. */
  remember(presented: Presented, body: Body): readonly NewEntry[];
  recall(presented: Presented): Promise<Recalled>;
}

/** In: the seconds an answer is remembered; 0: never. */
export function answerReplay(store: Store, clock: Clock, window: number): AnswerReplay {
  return {
    remember(presented, body) {
      if (window === 0) return [];
      const { kind, key } = SEALS[presented.grantType](presented);
      const kept: KeptAnswer = { question: presented.question, body };
      return [
        {
          kind,
          id: presented.value,
          payload: seal(key, JSON.stringify(kept), kind),
          expiresAt: unixSeconds(clock) + window,
          references: { grant: presented.grantId },
        },
      ];
    },

    async recall(presented) {
      const { kind, key } = SEALS[presented.grantType](presented);
      const entry = await store.get(kind, presented.value);
      if (entry === undefined) return { kind: 'unknown' };
      const { question, body } = JSON.parse(open(key, entry.payload, kind)) as KeptAnswer;
      const { refresh_token, access_token } = body;
      const successor =
        refresh_token === undefined
          ? await store.get('AccessToken', String(access_token))
          : await store.get('RefreshToken', String(refresh_token));
      if (successor === undefined || successor.consumedAt !== undefined) return { kind: 'superseded' };
      return question === presented.question ? { kind: 'answer', body } : { kind: 'another-question' };
    },
  };
}

/** Under which name and key an answer is kept. */
const SEALS: Readonly<Record<Presented['grantType'], (presented: Presented) => { kind: string; key: Buffer }>> = {
  authorization_code: ({ value, verifier }) => ({ kind: 'CodeAnswer', key: keyOf('code answer', value, verifier) }),
  refresh_token: ({ value }) => ({ kind: 'RefreshAnswer', key: keyOf('refresh answer', value) }),
};

/** None of the parts can hold a NUL: labels are ours, the others match what was issued or RFC 7636's alphabet. */
function keyOf(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(parts.join('\0')).digest();
}
