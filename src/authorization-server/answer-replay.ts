import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { open, seal } from '../storage/cipher.ts';
import type { Clock, Store } from '../storage/store.ts';
import { answerKept, answerWatch } from './answer-watch.ts';
import { answerIn, REFRESH_TOKEN, withAnswer } from './refresh-family.ts';
import type { RefreshTokens } from './refresh-token.ts';
import type { UnitOfWork } from './unit-of-work.ts';

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
  /** This request presents a copy of the code. */
  | { readonly kind: 'reused' }
  /** The refresh token was used by a request with other parameters. */
  | { readonly kind: 'another-question' }
  /** Nothing is stored, the window is over, or the tokens of the answer have been used. */
  | { readonly kind: 'unknown' };

const CONTEXT = 'RefreshAnswer';

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
 * set of tokens exists. The answer is stored with the new token, in the record of its family, until the next refresh
 * replaces it. It is sealed under a key derived from the presented token: a dump of the store does not reveal it.
 *
 * Only time in which the gate was running counts (see `answerWatch`): an answer that was lost in a crash is given again
 * after a restart of any length, up to a day. This does not help an attacker with an old copy of the token: once the
 * new token has been used, the old one is refused and ends the connection.
 * @param window - seconds for which an answer is remembered; 0 disables it
 */
export function answerReplay(store: Store, clock: Clock, window: number, tokens: Pick<RefreshTokens, 'read'>) {
  const watch = answerWatch(store, clock, window * 1000);

  /** The answer to the presented token, if it was the last of its grant to be used. */
  const keptFor = async ({ value, grantId }: CodeOrRefreshToken): Promise<KeptAnswer | undefined> => {
    const key = keyOf(value);
    for (const entry of await store.findBy(REFRESH_TOKEN, 'grant', grantId)) {
      const answer = answerIn(entry);
      if (answer === undefined) continue;
      try {
        return JSON.parse(open(key, answer, CONTEXT)) as KeptAnswer;
      } catch {
        // It answered another token.
      }
    }
    return undefined;
  };

  return {
    /** Adds the answer to the record that is written with the new tokens. Does nothing if answers are not remembered. */
    remember({ question, value }: CodeOrRefreshToken, body: Body, unit: Pick<UnitOfWork, 'amend'>): void {
      const issued = tokens.read(String(body.refresh_token));
      if (window === 0 || issued === undefined) return;
      watch.answered();
      const kept: KeptAnswer = { question, body, by: watch.id, answeredAt: clock() };
      const answer = seal(keyOf(value), JSON.stringify(kept), CONTEXT);
      unit.amend(REFRESH_TOKEN, issued.family, (entry) => withAnswer(entry, answer));
    },

    /** To be called when a token request failed and its app has to repeat it. */
    failed: watch.failed,

    async recall(presented: CodeOrRefreshToken): Promise<Recalled> {
      const kept = await keptFor(presented);
      if (kept === undefined) return { kind: 'unknown' };
      const { question, body, by, answeredAt } = kept;
      const age = clock() - answeredAt;
      if (age >= answerKept(window) * 1000 || (await watch.isOver(by, answeredAt))) return { kind: 'unknown' };
      if (question !== presented.question) return { kind: 'another-question' };
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
