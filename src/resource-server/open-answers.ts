import { outsideRequests } from '../http/current-request.ts';
import type { AdmittingToken, RequestInFlight, RequestList } from '../http/requests-in-flight.ts';
import { parseAuthorization } from '../oauth/credentials.ts';
import type { Introspect } from '../oauth/introspection.ts';

/** Milliseconds between a revocation and the check of open responses. Most ordinary responses end within that time. */
const GRACE = 500;
/** Milliseconds for which a response stays open while the store cannot answer. The same as for new requests. */
const DOUBT = 5000;
/** Tokens that are checked concurrently. */
const AT_ONCE = 16;

/** A request with the token that admitted it. */
interface Admitted extends RequestInFlight {
  readonly token: AdmittingToken;
}

/**
 * Responses in progress to requests with a token: event streams, downloads, long polls. Tokens are checked when a
 * request arrives; responses that stay open are checked again after a revocation, and closed if their token was revoked.
 */
export type OpenAnswers = ReturnType<typeof createOpenAnswers>;

export interface OpenAnswersOptions {
  readonly inFlight: RequestList;
  /** Must not answer from a cache filled before the revocation. */
  readonly introspect: Introspect;
  /** Whether a grant is still valid. The expiry of a token alone does not end a response in progress. */
  readonly isActive: (grantId: string) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with the number of responses that were closed. */
  readonly onCut: (count: number) => void;
}

export function createOpenAnswers({ inFlight, introspect, isActive, clock, onCut }: OpenAnswersOptions) {
  let revocations = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let closed = false;

  const isGood = async ({ authorization, principal, expires }: AdmittingToken): Promise<boolean> => {
    const credentials = parseAuthorization(authorization);
    if (credentials.kind !== 'token') return false;
    const answer = await introspect(credentials.token);
    return answer.active || (clock() / 1000 >= expires && (await isActive(principal.grantId)));
  };

  /** Whether the response must be closed; undefined while that is unknown. */
  const isRevoked = async ({ token: of }: Admitted): Promise<boolean | undefined> => {
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
    const left = inFlight.all.filter(isAdmitted);
    for (let at = 0; at < left.length && !closed; at += AT_ONCE) {
      const some = left.slice(at, at + AT_ONCE);
      const verdicts = await Promise.all(some.map(isRevoked));
      for (const [index, one] of some.entries()) {
        if (verdicts[index] === undefined) again = true;
        if (verdicts[index] !== true || one.over) continue;
        // Destroyed, not ended: a truncated response must not look complete.
        one.response?.destroy();
        cut += 1;
      }
    }
    if (cut > 0) onCut(cut);
  };

  /** Schedules one check for any number of revocations, so that frequent revocations cannot cause endless checks. */
  const lookSoon = (): void => {
    if (closed) return;
    if (looking) again = true;
    if (looking || timer !== undefined || !inFlight.all.some(isAdmitted)) return;
    const due = async () => {
      timer = undefined;
      looking = true;
      again = false;
      await look();
      looking = false;
      if (again) lookSoon();
    };
    timer = outsideRequests(() => setTimeout(due, GRACE).unref());
  };

  return {
    /** The number of revocations so far. Read it before a token is checked. */
    revocations: () => revocations,
    /**
     * Notes the token that admitted a request. `before` is the value of `revocations` before the token was checked.
     */
    hold(request: RequestInFlight, token: AdmittingToken, before: number): void {
      request.token = token;
      // Its own token may have been revoked while it was being checked.
      if (before !== revocations) lookSoon();
    },
    /** To be called after a revocation on any replica. Affected responses are closed within a second. */
    revoked(): void {
      revocations += 1;
      lookSoon();
    },
    /** Stops checking. */
    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function isAdmitted(request: RequestInFlight): request is Admitted {
  return request.token !== undefined;
}
