import type { Member } from '../../login/connector.ts';

/** What an authorization request asks of the sign-in, and when it asked (Unix seconds). */
export interface SignInWishes {
  /** prompt=login: a sign-in of now, not of before. */
  readonly fresh: boolean;
  /** Seconds that may have passed since the member signed in. */
  readonly maxAge: number | undefined;
  readonly acrValues: readonly string[];
  readonly askedAt: number;
}

export type Step = 'first-visit' | 'back-from-sign-in';

/**
 * Whether a member who is signed in at the backend must still go to its sign-in page (OpenID Connect Core §3.1.2.1).
 * Where the backend says when they signed in, that decides; where it does not, having been to the page has to do.
 * acr is a wish: the page is visited once for it, and what comes back is taken and told truthfully.
 */
export function mustSignIn(wishes: SignInWishes, member: Member, step: Step, now: number): boolean {
  const { authTime } = member;
  if (wishes.fresh && !(authTime === undefined ? step === 'back-from-sign-in' : authTime >= wishes.askedAt))
    return true;
  if (wishes.maxAge !== undefined) {
    const young = authTime === undefined ? step === 'back-from-sign-in' : now - authTime <= wishes.maxAge;
    if (!young) return true;
  }
  const unmet = wishes.acrValues.length > 0 && !wishes.acrValues.includes(member.acr ?? '');
  return unmet && step === 'first-visit';
}
