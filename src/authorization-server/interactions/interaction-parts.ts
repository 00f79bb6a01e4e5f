import type Provider from 'oidc-provider';
import type { ScopeConfig } from '../../config/schema.ts';
import type { Outbox } from '../../events/outbox.ts';
import type { LoginConnector } from '../../login/connector.ts';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import type { RoleScopes } from '../../roles/role-scopes.ts';
import type { BackendSessions } from '../backend-sessions.ts';
import type { Core } from '../core.ts';
import type { CsrfKeys } from '../csrf.ts';
import type { Pages } from '../pages/pages.ts';
import type { Standings } from '../standing.ts';

/** What the steps of an interaction work with. */
export interface InteractionParts extends Core {
  readonly provider: () => Provider;
  readonly connector: LoginConnector;
  readonly standings: Pick<Standings, 'maySignIn'>;
  readonly indicators: ResourceIndicators;
  readonly origin: string;
  readonly pages: Pages;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  /** Keeps the backend session that an app acts with; undefined when apps act with none. */
  readonly sessions: BackendSessions | undefined;
  readonly roleScopes: RoleScopes;
  readonly csrfKeys: CsrfKeys;
  /** IANA time zone for dates. */
  readonly timeZone: string;
  /** Events for the backend are written in the same commit as the change they report. */
  readonly outbox: Outbox;
}
