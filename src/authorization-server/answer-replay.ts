import { createHash } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import { type Clock, type Mutation, type Store, unixSeconds } from '../storage/store.ts';
import { answerKept, answerWatch } from './answer-watch.ts';

/** The code or refresh token in a token request. Each can be exchanged for one answer. */
export interface Presented {
  readonly grantType: 'authorization_code' | 'refresh_token';
  readonly value: string;
  /**
   * The PKCE verifier that only the rightful holder of a code has (RFC 7636 section 4.5). Empty for a refresh token.
   */
  readonly verifier: string;
  readonly grantId: string;
  /** The request's other parameters. A request that differs in them does not get the stored answer. */
  readonly question: string;
}

type Body = Readonly<Record<string, unknown>>;

export type Recalled =
  /** The same request within the window gets the same answer. */
  | { readonly kind: 'answer'; readonly body: Body }
  /** The tokens of that answer have been used or are gone, so this request presents an old copy. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'another-question' }
  /** No answer is stored, or its window is over. */
  | { readonly kind: 'unknown' };

/** A stored answer. `by` is the `answerWatch` id of the process that gave it, `answeredAt` is in milliseconds. */
interface KeptAnswer {
  readonly question: string;
  readonly body: Body;
  readonly by: string;
  readonly answeredAt: number;
}

/** Earlier versions stored neither `by` nor `answeredAt`, and kept the entry for the window only. */
type StoredAnswer = Omit<KeptAnswer, 'by' | 'answeredAt'> & Partial<KeptAnswer>;

/**
 * Detects reused codes and refresh tokens (RFC 9700 sections 4.5 and 4.14.2), but tolerates repeated requests. Clients
 * send a request twice at once or lose an answer on the way: for `window` seconds the same request gets exactly the
 * same answer, so only one set of tokens exists. The answer is sealed under a key derived from the presented token, for
 * a code together with its verifier. A dump of the store does not reveal it, not even to an attacker who knows the
 * code.
 *
 * Only time in which the gate was running counts (see `answerWatch`): an answer that was lost in a crash is given again
 * after a restart of any length, up to a day. This does not help an attacker with an old copy of the token: once the
 * new token has been used, the old one is refused and ends the connection.
 * @param window - seconds for which an answer is remembered; 0 disables it
 */
export function answerReplay(store: Store, clock: Clock, window: number) {
  const watch = answerWatch(store, clock, window * 1000);

  return {
    /** Returns what to write in the same commit as the new tokens. Empty if answers are not remembered. */
    remember(presented: Presented, body: Body): readonly Mutation[] {
      if (window === 0) return [];
      const { kind, key } = SEALS[presented.grantType](presented);
      const { question, grantId, value: id } = presented;
      watch.answered();
      const kept: KeptAnswer = { question, body, by: watch.id(), answeredAt: clock() };
      const payload = seal(key, JSON.stringify(kept), kind);
      const expiresAt = unixSeconds(clock) + answerKept(window);
      const references = { grant: grantId };
      return [
        // Supersedes the connection's earlier answers, so it has only one stored, however often it is refreshed in a
        // day.
        { op: 'deleteBy', kind: 'CodeAnswer', name: 'grant', value: grantId },
        { op: 'deleteBy', kind: 'RefreshAnswer', name: 'grant', value: grantId },
        { op: 'put', entry: { kind, id, payload, expiresAt, references } },
      ];
    },

    async recall(presented: Presented): Promise<Recalled> {
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

export type AnswerReplay = ReturnType<typeof answerReplay>;

/** Corrects `expires_in`: after a long restart, the access token has less time left. */
function aged(body: Body, seconds: number): Body {
  const { expires_in } = body;
  return typeof expires_in === 'number' ? { ...body, expires_in: Math.max(1, expires_in - seconds) } : body;
}

/** The entry kind and the sealing key of a stored answer. */
const SEALS: Readonly<Record<Presented['grantType'], (presented: Presented) => { kind: string; key: Buffer }>> = {
  authorization_code: ({ value, verifier }) => ({ kind: 'CodeAnswer', key: keyOf('code answer', value, verifier) }),
  refresh_token: ({ value }) => ({ kind: 'RefreshAnswer', key: keyOf('refresh answer', value) }),
};

/** No part can contain a NUL: labels are constants, the others match what was issued or the alphabet of RFC 7636. */
function keyOf(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(parts.join('\0')).digest();
}
