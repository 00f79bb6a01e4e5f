import type { ServerResponse } from 'node:http';
import { whenClosed } from '../http/when-closed.ts';
import { parseAuthorization } from '../oauth/credentials.ts';
import type { Introspect } from '../oauth/introspection.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';

/** Milliseconds from a revocation to the look at what is still open: an ordinary answer ends by itself in that time. */
const GRACE = 500;
/** Milliseconds that a look which the store cannot answer is believed to be good; the same as for new requests. */
const DOUBT = 5000;
/** Tokens that are asked about at the same time. */
const AT_ONCE = 16;

/** An answer to a member's token that is under way: an event stream, a download, a question that waits. */
interface GivenAnswer {
  readonly response: ServerResponse;
  /** Every Authorization field of the request, which was admitted with them. */
  readonly authorization: readonly string[];
  readonly principal: MemberPrincipal;
  /** When the token expires, in Unix seconds. */
  readonly expires: number;
}

interface OpenAnswer extends GivenAnswer {
  /** Since when nobody can say whether it stands; milliseconds since the epoch. */
  doubted: number | undefined;
}

/**
 * Every answer that is given to a token, until it ends. A token is judged when a request comes; what stays open longer is
 * judged again when something was revoked, and cut off if it was this.
 */
export interface OpenAnswers {
  /** How often something was revoked: to be asked before a token is judged. */
  readonly revocations: () => number;
  /** In: an answer, and the `revocations` from before its token was judged. Holds it until it closes. */
  readonly hold: (answer: GivenAnswer, before: number) => void;
  /** Something was revoked, here or elsewhere. What hangs on it is cut off within a second. */
  readonly revoked: () => void;
  /** Looks no more. */
  readonly close: () => void;
}

export interface OpenAnswersOptions {
  /** Must not remember what was before the revocation. */
  readonly introspect: Introspect;
  /** Whether the grant of an expired token stands: that a token runs out ends nothing that is under way. */
  readonly stands: (grantId: string) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** How many answers were cut off. */
  readonly onCut: (count: number) => void;
}

export function createOpenAnswers({ introspect, stands, clock, onCut }: OpenAnswersOptions): OpenAnswers {
  const open = new Set<OpenAnswer>();
  let revocations = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let closed = false;

  const isGood = async ({ authorization, principal, expires }: OpenAnswer): Promise<boolean> => {
    const credentials = parseAuthorization(authorization);
    if (credentials.kind !== 'token') return false;
    const answer = await introspect(credentials.token);
    return answer.active || (clock() / 1000 >= expires && (await stands(principal.grantId)));
  };

  /** Out: whether it is cut off, or undefined when nobody can say. */
  const judge = async (of: OpenAnswer): Promise<boolean | undefined> => {
    try {
      const good = await isGood(of);
      of.doubted = undefined;
      return !good;
    } catch {
      of.doubted ??= clock();
      return clock() - of.doubted >= DOUBT ? true : undefined;
    }
  };

  const look = async (): Promise<void> => {
    let cut = 0;
    const left = [...open];
    for (let at = 0; at < left.length && !closed; at += AT_ONCE) {
      const some = left.slice(at, at + AT_ONCE);
      const verdicts = await Promise.all(some.map(judge));
      for (const [index, one] of some.entries()) {
        if (verdicts[index] === undefined) again = true;
        if (verdicts[index] !== true || one.response.closed) continue;
        // Half an answer must not look like a whole one.
        one.response.destroy();
        cut += 1;
      }
    }
    if (cut > 0) onCut(cut);
  };

  /** One look for all that is revoked while one is due, so that nobody makes us look without end. */
  const lookSoon = (): void => {
    if (closed) return;
    if (looking) again = true;
    if (looking || timer !== undefined || open.size === 0) return;
    timer = setTimeout(async () => {
      timer = undefined;
      looking = true;
      again = false;
      await look();
      looking = false;
      if (again) lookSoon();
    }, GRACE).unref();
  };

  return {
    revocations: () => revocations,
    hold(answer, before) {
      // Its 'close' has been, and does not come again.
      if (answer.response.closed) return;
      const held = { ...answer, doubted: undefined };
      open.add(held);
      whenClosed(answer.response, () => open.delete(held));
      // What was revoked while it was judged may be this.
      if (before !== revocations) lookSoon();
    },
    revoked() {
      revocations += 1;
      lookSoon();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
