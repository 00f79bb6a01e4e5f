import type { Member } from '../../login/connector.ts';

/** What an authorization request asks of the sign-in, and when it asked (Unix seconds). */
export interface SignInWishes {
  /** prompt=login: requires a new sign-in. */
  readonly fresh: boolean;
  /** Maximum time in seconds since the member signed in. */
  readonly maxAge: number | undefined;
  readonly acrValues: readonly string[];
  readonly askedAt: number;
}

export type Step = 'first-visit' | 'back-from-sign-in';

/**
 * Whether a member who is signed in at the backend must still go to its sign-in page (OpenID Connect Core section
 * 3.1.2.1). If the backend reports when they signed in, that decides; if not, a visit to the page must suffice. acr is
 * voluntary: the page is visited once for it, and the result is accepted and reported truthfully.
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
