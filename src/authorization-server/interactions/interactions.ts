import type Provider from 'oidc-provider';
import type { ScopeConfig } from '../../config/schema.ts';
import type { Outbox } from '../../events/outbox.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { LoginConnector } from '../../login/connector.ts';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Clock, Store } from '../../storage/store.ts';
import type { Suspensions } from '../administration/suspensions.ts';
import type { BackendSessions } from '../backend-sessions.ts';
import type { CsrfKeys } from '../csrf.ts';
import type { Grants } from '../grants.ts';
import type { Members } from '../members.ts';
import { type Pages, redirect } from '../pages/pages.ts';
import type { Standings } from '../standing.ts';
import { decide } from './decide.ts';
import { identifyMember } from './identify-member.ts';
import { findPending, signInUrl } from './pending.ts';

export interface InteractionOptions {
  readonly provider: () => Provider;
  readonly connector: LoginConnector;
  readonly members: Members;
  readonly suspensions: Suspensions;
  readonly standings: Pick<Standings, 'maySignIn'>;
  readonly indicators: ResourceIndicators;
  readonly origin: string;
  readonly pages: Pages;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  readonly grants: Grants;
  /** Keeps the backend session that an app acts with; undefined when apps act with none. */
  readonly sessions: BackendSessions | undefined;
  readonly csrfKeys: CsrfKeys;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly store: Store;
  /** Events for the backend are written in the same commit as the change they report. */
  readonly outbox: Outbox;
}

/**
 * The steps between an authorization request and its answer, one file each:
 *
 *   /oauth/authorize -> start --not signed in--> the backend's sign-in page -> returned
 *                         |                                                      |
 *                         +--signed in--------------> log in <----signed in------+--not signed in--> login page
 *                                                        |
 *                                          start (consent) -> consent page -> decide -> the app
 *
 * Every step asks the backend again who is signed in: the member who is signed in when the answer is given gives it.
 */
export function createInteractions(options: InteractionOptions) {
  return {
    start: (exchange: Exchange) => identifyMember(options, exchange, 'first-visit'),
    returned: (exchange: Exchange) => identifyMember(options, exchange, 'back-from-sign-in'),
    async switchAccount(exchange: Exchange) {
      const pending = await findPending(options, exchange);
      redirect(exchange.response, signInUrl(options, pending, { another: true }));
    },
    decide: (exchange: Exchange) => decide(options, exchange),
  };
}

/** The handlers of these steps. */
export type Interactions = ReturnType<typeof createInteractions>;
