/**
 * The authorization server: OAuth endpoints, consent interactions and in-process introspection, built on oidc-provider.
 * Subfolders hold the steps of an interaction, the pages, the rules for requests and clients, and administration.
 */
import { formatScope } from '../oauth/scope.ts';
import { deriveKey, deriveKeys, type Secrets } from '../storage/seal.ts';
import { createAccountControl } from './administration/account-control.ts';
import { createKeyControl } from './administration/key-control.ts';
import { registrationSwitch, storedSuspensions } from './administration/suspensions.ts';
import { answerReplay } from './answer-replay.ts';
import type { createApprovalPages } from './approvals/approval-pages.ts';
import { tokenResponseClaims } from './claims.ts';
import { createClientDocuments } from './client-documents/client-documents.ts';
import type { ClientDocumentsOptions } from './client-documents/document-fetches.ts';
import { validateClient } from './client-documents/feature.ts';
import { codeUses } from './code-uses.ts';
import { createConnectedApps } from './connected-apps/connected-apps.ts';
import type { ConnectedAppsOptions } from './connected-apps/member-request.ts';
import type { Usage } from './connected-apps/usage.ts';
import { storedGrants } from './grants.ts';
import type { InteractionParts } from './interactions/interaction-parts.ts';
import { createInteractions } from './interactions/interactions.ts';
import { createIntrospect } from './introspect.ts';
import type { Keyring } from './keyring.ts';
import { storedMembers } from './members.ts';
import { type MountOptions, mountProvider } from './mount.ts';
import { createProvider, type ProviderOptions, type ProviderSettings } from './provider.ts';
import { type ProviderEventsOptions, reportEvents } from './provider-events.ts';
import { refreshTokens } from './refresh-token.ts';
import { clientRecords } from './registration/client-records.ts';
import { errorRedirectRule } from './rules/error-redirect.ts';
import { grantErrorRule } from './rules/grant-error.ts';
import { lostScopeRule } from './rules/lost-scopes.ts';
import { purposeOf } from './sign-in/purpose.ts';
import { createStandings, type StandingsOptions } from './standing.ts';
import { tokenTransaction } from './token-transaction.ts';
import { createUserinfo } from './userinfo.ts';

export interface AuthorizationServerOptions
  extends ProviderSettings,
    Pick<InteractionParts, 'connector' | 'pages' | 'scopes' | 'sessions' | 'timeZone' | 'roleScopes'>,
    Pick<MountOptions, 'registration'>,
    Pick<ProviderEventsOptions, 'audit' | 'introspected'>,
    Pick<StandingsOptions, 'recheck' | 'log'> {
  /** Keys for the cookies, the forms' CSRF tokens and the nonces are derived from these. */
  readonly secrets: Secrets;
  /** Undefined if client ID metadata documents are not supported. */
  readonly documents:
    | Pick<ClientDocumentsOptions, 'allow' | 'deny' | 'network' | 'budget' | 'log' | 'watchCache'>
    | undefined;
  readonly keyring: Keyring;
  /** Where members of the course site are at home; undefined if there is no such address. */
  readonly home: string | undefined;
  /** Counts what apps did. */
  readonly usage: Usage;
  /** Creates the page on which members approve calls of tools; undefined if there is none. */
  readonly approvalPages: typeof createApprovalPages | undefined;
  /** The page of connected apps. */
  readonly connectedApps: Pick<ConnectedAppsOptions, 'names'>;
  /** Called and awaited after every revocation. */
  readonly onRevoked: () => Promise<void>;
}

export type AuthorizationServer = ReturnType<typeof createAuthorizationServer>;

type ProviderParts = Omit<ProviderOptions, 'keys'> &
  Pick<InteractionParts, 'grants' | 'connector' | 'store' | 'audit' | 'outbox'> &
  ProviderEventsOptions & { readonly uses: Parameters<typeof tokenTransaction>[2] };

/**
 * Creates the authorization server. oidc-provider takes its keys only at construction, so each generation of keys gets
 * a new provider. All state is in the store, so one provider can replace another while requests are in progress.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions) {
  const { origin, secrets, store, clock, keyring, audit, connectedApps } = options;
  const scopes = Object.keys(options.scopes);
  const scope = formatScope(scopes);
  const members = storedMembers(store);
  const csrfKeys = deriveKeys(secrets, 'csrf');
  const suspensions = storedSuspensions(store, clock);
  const stored = storedGrants(store, options.onRevoked, options.outbox);
  const grants: typeof stored = {
    ...stored,
    async revokeAll(of, ...how) {
      const count = await stored.revokeAll(of, ...how);
      if ('member' in of) options.forgetRoles(of.member);
      return count;
    },
  };
  const standings = createStandings({ ...options, grants });
  const connector = standings.watched(options.connector);
  const tokens = refreshTokens(keyring.refreshTokenKey);
  const documents =
    options.documents &&
    createClientDocuments({
      ...options.documents,
      ownHost: new URL(origin).hostname,
      scope,
      store,
      clock,
      validate: (metadata) => validateClient(running.provider, metadata, options.redirects),
    });

  const parts: ProviderParts = {
    ...options,
    scopes,
    registration: options.registration !== undefined,
    members,
    suspensions,
    standings,
    documents,
    connector,
    grants,
    cookieKeys: deriveKeys(secrets, 'cookies'),
    dpopNonceKey: deriveKey(secrets[0], 'dpop-nonce'),
    refreshTokens: tokens,
    uses: {
      authorization_code: codeUses(store, clock, options.ttl.replayWindow),
      refresh_token: answerReplay(store, clock, options.ttl.replayWindow, tokens),
    },
  };
  let running = startProvider(parts, keyring);
  /** Starts a new provider if the keys have changed. Others that share the keyring may have changed them. */
  const keepUp = () => {
    if (keyring.version() !== running.version) running = startProvider(parts, keyring);
  };
  const provider = () => running.provider;
  const shared = {
    ...options,
    origin: options.pagesOrigin,
    provider,
    connector,
    members,
    standings,
    grants,
    suspensions,
    csrfKeys,
  };

  return {
    mount: mountProvider({
      ...{ ...options, provider, scope },
      callback: () => running.callback,
      closedSince: registrationSwitch(store, clock).since,
    }),
    interactions: createInteractions(shared),
    connectedApps: createConnectedApps({ ...shared, ...connectedApps }),
    approvals: options.approvalPages?.(shared),
    /** What a sign-in on the gate's own pages continues with. */
    purposeOf: purposeOf(shared, options.home),
    introspect: (token: string) => createIntrospect(running.provider, members)(token),
    userinfo: createUserinfo(members, options.claims),
    /** Call before the gate's own sign-in begins: ends everything that is older than the member's version. */
    signedIn: standings.signedIn,
    /** What members have approved, to list and to end. */
    grants,
    /** Whether the grant with this id is active. Throws GatewayError `store_unavailable`. */
    isActive: grants.isActive,
    /** Administration of members, apps and keys. */
    controls: {
      account: createAccountControl(shared, (id) => clientRecords(options).remove(id)),
      keys: createKeyControl(keyring, keepUp, audit),
    },
    /** Takes over a rotation done by another replica, and rotates if a rotation is due. */
    async refreshKeys(): Promise<void> {
      await keyring.refresh();
      keepUp();
    },
  };
}

/** Makes a provider for the current keys, with everything attached to it. */
function startProvider(parts: ProviderParts, keyring: Keyring) {
  const provider = createProvider({ ...parts, keys: keyring.privateKeys() });
  // The outermost first: each sees the answers as those after it have left them.
  errorRedirectRule(provider, parts);
  grantErrorRule(provider);
  lostScopeRule(provider, parts.roleScopes);
  reportEvents(provider, parts);
  tokenTransaction(provider, parts, parts.uses);
  // Within the transaction, which keeps its answers for repeated requests.
  tokenResponseClaims(provider, parts.members, parts.claims);
  return { version: keyring.version(), provider, callback: provider.callback() };
}
