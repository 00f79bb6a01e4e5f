import type Provider from 'oidc-provider';
import type { ScopeConfig } from '../../config/schema.ts';
import type { Outbox } from '../../events/outbox.ts';
import type { LoginConnector } from '../../login/connector.ts';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Clock, Store } from '../../storage/store.ts';
import type { Suspensions } from '../administration/suspensions.ts';
import type { BackendSessions } from '../backend-sessions.ts';
import type { CsrfKeys } from '../csrf.ts';
import type { Grants } from '../grants.ts';
import type { Members } from '../members.ts';
import type { Pages } from '../pages/pages.ts';
import type { Standings } from '../standing.ts';

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
