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

export type VisitKind = 'first-visit' | 'back-from-sign-in';

/** Whether the request can only be answered if it is known when the member signed in. */
export function asksForTime({ fresh, maxAge }: SignInWishes): boolean {
  return fresh || maxAge !== undefined;
}

/**
 * Whether a member who is signed in at the backend must still go to its sign-in page (OpenID Connect Core section
 * 3.1.2.1). Only the time of the sign-in shows that it meets `prompt=login` and `max_age`: the backend may send a member
 * back without asking for anything. acr is voluntary: the page is visited once for it, and the result is accepted and
 * reported truthfully.
 */
export function mustSignIn(wishes: SignInWishes, member: Member, step: VisitKind, now: number): boolean {
  const { authTime } = member;
  if (asksForTime(wishes) && authTime === undefined) return true;
  if (authTime !== undefined && wishes.fresh && authTime < wishes.askedAt) return true;
  if (authTime !== undefined && wishes.maxAge !== undefined && now - authTime > wishes.maxAge) return true;
  const unmet = wishes.acrValues.length > 0 && !wishes.acrValues.includes(member.acr ?? '');
  return unmet && step === 'first-visit';
}
