import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import { type Clock, type Mutation, type Store, unixSeconds } from '../storage/store.ts';
import { answerKept, answerWatch } from './answer-watch.ts';

/** The code or refresh token in a token request. Each can be used once. */
export interface CodeOrRefreshToken {
  readonly value: string;
  readonly grantId: string;
  /** The request's other parameters: a request that differs in them is not a repeat. */
  readonly question: string;
}

type Body = Readonly<Record<string, unknown>>;

/** What is known about the earlier use of a code or refresh token. */
export type Recalled =
  /** The same refresh within the window gets the same answer. */
  | { readonly kind: 'answer'; readonly body: Body }
  /** The request that redeemed a code was repeated within the window. */
  | { readonly kind: 'repeated' }
  /** This request presents an old copy: the tokens of the answer have been used or are gone, or a code was copied. */
  | { readonly kind: 'reused' }
  /** The refresh token was used by a request with other parameters. */
  | { readonly kind: 'another-question' }
  /** Nothing is stored, or the window is over. */
  | { readonly kind: 'unknown' };

const KIND = 'RefreshAnswer';

/** A stored answer. `by` is the `answerWatch` id of the process that gave it, `answeredAt` is in milliseconds. */
interface KeptAnswer {
  readonly question: string;
  readonly body: Body;
  readonly by: string;
  readonly answeredAt: number;
}

/**
 * Detects reused refresh tokens (RFC 9700 section 4.14.2), but tolerates repeated requests. Clients send a refresh twice
 * at once or lose an answer on the way: for `window` seconds the same request gets exactly the same answer, so only one
 * set of tokens exists. The answer is sealed under a key derived from the presented token: a dump of the store does not
 * reveal it.
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
    remember(presented: CodeOrRefreshToken, body: Body): readonly Mutation[] {
      if (window === 0) return [];
      const { question, grantId, value: id } = presented;
      watch.answered();
      const kept: KeptAnswer = { question, body, by: watch.id, answeredAt: clock() };
      const payload = seal(keyOf(id), JSON.stringify(kept), KIND);
      const expiresAt = unixSeconds(clock) + answerKept(window);
      const references = { grant: grantId };
      return [
        // Supersedes the connection's earlier answer, so it has only one stored, however often it is refreshed in a day.
        { op: 'deleteBy', kind: KIND, name: 'grant', value: grantId },
        { op: 'put', entry: { kind: KIND, id, payload, expiresAt, references } },
      ];
    },

    async recall(presented: CodeOrRefreshToken): Promise<Recalled> {
      const entry = await store.get(KIND, presented.value);
      if (entry === undefined) return { kind: 'unknown' };
      const kept = JSON.parse(open(keyOf(presented.value), entry.payload, KIND)) as KeptAnswer;
      const { question, body, by, answeredAt } = kept;
      const successor = await store.get('RefreshToken', String(body.refresh_token));
      if (successor === undefined || successor.consumedAt !== undefined) return { kind: 'reused' };
      if (await watch.isOver(by, answeredAt)) return { kind: 'unknown' };
      if (question !== presented.question) return { kind: 'another-question' };
      const age = clock() - answeredAt;
      return { kind: 'answer', body: age < window * 1000 ? body : aged(body, Math.floor(age / 1000)) };
    },
  };
}

/** Corrects `expires_in`: after a long restart, the access token has less time left. */
function aged(body: Body, seconds: number): Body {
  const { expires_in } = body;
  return typeof expires_in === 'number' ? { ...body, expires_in: Math.max(1, expires_in - seconds) } : body;
}

function keyOf(refreshToken: string): KeyObject {
  return createSecretKey(createHash('sha256').update(`refresh answer\0${refreshToken}`).digest());
}
