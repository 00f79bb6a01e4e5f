import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import type { StandingGrant } from '../grants.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import type { AreaNames } from './areas.ts';
import type { CarriedParameters } from './target.ts';
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
