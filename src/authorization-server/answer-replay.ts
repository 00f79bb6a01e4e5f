import { createHash } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import { type Clock, type Mutation, type Store, unixSeconds } from '../storage/store.ts';
import { answerKept, answerWatch } from './answer-watch.ts';

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
  /** Nothing was answered, or its window is over. */
  | { readonly kind: 'unknown' };

/** What is kept: which question was given which body, by whom, and when in milliseconds. */
interface KeptAnswer {
  readonly question: string;
  readonly body: Body;
  readonly by: string;
  readonly answeredAt: number;
}

/** An earlier version of the gate kept neither, and the entry for the window only. */
type StoredAnswer = Omit<KeptAnswer, 'by' | 'answeredAt'> & Partial<KeptAnswer>;

/**
 * RFC 9700 §4.14.2 and §4.5 with a short memory. Clients ask twice at once, or lose an answer on the way: for `window`
 * seconds the same request gets the very same answer, so there is one token set however often it is asked for. The
 * answer is sealed under a key made of what was presented, a code together with its verifier: a dump of the store opens
 * none, not even for who has read the code somewhere.
 *
 * Only time in which the gate was up counts, as `AnswerWatch` tells it: an answer that was lost in a crash is given again
 * however long the restart takes, up to a day. An old copy of the token gains nothing by that: as always, it is refused
 * and ends the connection once the new one was used.
 */
export interface AnswerReplay {
  /** Out: what to write beside the new tokens, in the same commit; nothing when nothing is remembered. */
  remember(presented: Presented, body: Body): readonly Mutation[];
  recall(presented: Presented): Promise<Recalled>;
}

/** In: the seconds an answer is remembered; 0: never. */
export function answerReplay(store: Store, clock: Clock, window: number): AnswerReplay {
  const watch = answerWatch(store, clock, window * 1000);

  return {
    remember(presented, body) {
      if (window === 0) return [];
      const { kind, key } = SEALS[presented.grantType](presented);
      const { question, grantId, value: id } = presented;
      watch.answered();
      const kept: KeptAnswer = { question, body, by: watch.id(), answeredAt: clock() };
      const payload = seal(key, JSON.stringify(kept), kind);
      const expiresAt = unixSeconds(clock) + answerKept(window);
      const references = { grant: grantId };
      return [
        // What came before has been superseded now: a connection has one answer, however often it is refreshed in a day.
        { op: 'deleteBy', kind: 'CodeAnswer', name: 'grant', value: grantId },
        { op: 'deleteBy', kind: 'RefreshAnswer', name: 'grant', value: grantId },
        { op: 'put', entry: { kind, id, payload, expiresAt, references } },
      ];
    },

    async recall(presented) {
      const { kind, key } = SEALS[presented.grantType](presented);
      const entry = await store.get(kind, presented.value);
      if (entry === undefined) return { kind: 'unknown' };
      const { question, body, by, answeredAt } = JSON.parse(open(key, entry.payload, kind)) as StoredAnswer;
      const { refresh_token, access_token } = body;
      const successor =
        refresh_token === undefined
          ? await store.get('AccessToken', String(access_token))
          : await store.get('RefreshToken', String(refresh_token));
      if (successor === undefined || successor.consumedAt !== undefined) return { kind: 'superseded' };
      if (by !== undefined && answeredAt !== undefined && (await watch.isOver(by, answeredAt)))
        return { kind: 'unknown' };
      if (question !== presented.question) return { kind: 'another-question' };
      const age = clock() - (answeredAt ?? clock());
      return { kind: 'answer', body: age < window * 1000 ? body : aged(body, Math.floor(age / 1000)) };
    },
  };
}

/** After a long restart, the access token has less time left than it had. */
function aged(body: Body, seconds: number): Body {
  const { expires_in } = body;
  return typeof expires_in === 'number' ? { ...body, expires_in: Math.max(1, expires_in - seconds) } : body;
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
