import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import type { StandingGrant } from '../grants.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import { appsSignInPage } from '../pages/apps.ts';
import { preferLanguages, redirect } from '../pages/pages.ts';
import type { AreaNames } from './areas.ts';
import { type CarriedParameters, carriedBy } from './target.ts';
import type { Usage } from './usage.ts';

export interface ConnectedAppsOptions extends InteractionParts {
  readonly usage: Usage;
  readonly names: AreaNames;
}

/** A signed-in member's request for one of the pages of connected apps. */
export interface MemberRequest {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly carried: CarriedParameters;
  readonly member: Member;
}

/** The most grants read for one member. No member reaches it by hand, and grants expire. */
const MOST_GRANTS = 5000;

export function grantsOf({ grants }: ConnectedAppsOptions, { sub }: Member): Promise<readonly StandingGrant[]> {
  return grants.list({ member: sub }, MOST_GRANTS);
}

type Parts = Pick<InteractionParts, 'connector' | 'origin' | 'pages'>;

/**
 * Runs `work` for the signed-in member, or redirects to the sign-in first.
 * @param back - the path to return to from the sign-in
 */
export async function forSignedIn(
  parts: Parts,
  exchange: Exchange,
  back: string,
  work: (request: MemberRequest) => Promise<void>,
): Promise<void> {
  const { query, carried, member } = await arrive(parts, exchange);
  if (member === undefined) redirect(exchange.response, signInUrl(parts, back, carried));
  else await work({ exchange, query, carried, member });
}

/** Continues at `next` for a member who comes back from the sign-in, or shows a page that asks to sign in. */
export async function backFromSignIn(
  parts: Parts,
  exchange: Exchange,
  back: string,
  next: (carried: CarriedParameters) => string,
): Promise<void> {
  const { carried, member } = await arrive(parts, exchange);
  if (member !== undefined) return redirect(exchange.response, next(carried));
  const signIn = signInUrl(parts, back, carried);
  parts.pages.send(exchange.response, 200, (words) => appsSignInPage(words, signIn));
}

async function arrive({ connector }: Parts, { request, target, provenance }: Exchange) {
  const query = new URLSearchParams(target.query);
  const carried = carriedBy(query);
  preferLanguages(carried.ui_locales);
  return { query, carried, member: await connector.identify(request.headers, provenance) };
}

function signInUrl({ connector, origin }: Parts, back: string, { ui_locales }: CarriedParameters): string {
  return connector.signInUrl(new URL(back, origin), { loginHint: undefined, uiLocales: ui_locales }).href;
}
