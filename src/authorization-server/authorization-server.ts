/**
 * The authorization server: OAuth endpoints, consent interactions and in-process introspection, built on oidc-provider.
 * Subfolders hold the steps of an interaction, the pages, the rules for requests and clients, and administration.
 */
import type Provider from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import type { Handler } from '../http/exchange.ts';
import type { Member } from '../login/connector.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { formatScope } from '../oauth/scope.ts';
import { deriveKey, deriveKeys, type Secrets } from '../storage/seal.ts';
import { createAccountControl } from './administration/account-control.ts';
import type { Controls } from './administration/commands.ts';
import { createKeyControl } from './administration/key-control.ts';
import { storedSuspensions } from './administration/suspensions.ts';
import { answerReplay } from './answer-replay.ts';
import { type ClientDocumentsOptions, createClientDocuments } from './client-documents/client-documents.ts';
import { judgeClient } from './client-documents/feature.ts';
import { type ConnectedApps, type ConnectedAppsOptions, createConnectedApps } from './connected-apps/connected-apps.ts';
import type { Usage } from './connected-apps/usage.ts';
import { ENDPOINTS } from './endpoints.ts';
import { type Grants, storedGrants } from './grants.ts';
import { createInteractions, type InteractionOptions, type Interactions } from './interactions/interactions.ts';
import { createIntrospect } from './introspect.ts';
import type { Keyring } from './keyring.ts';
import { storedMembers } from './members.ts';
import { type Mount, type MountOptions, mountProvider } from './mount.ts';
import { createProvider, type ProviderOptions } from './provider.ts';
import { clientRecords } from './registration/client-records.ts';
import { errorRedirectRule } from './rules/error-redirect.ts';
import { grantErrorRule } from './rules/grant-error.ts';
import { createStandings, type StandingsOptions } from './standing.ts';

export interface AuthorizationServerOptions
  extends Pick<
      ProviderOptions,
      | 'origin'
      | 'indicators'
      | 'resourceRequired'
      | 'documentation'
      | 'resourceServers'
      | 'acrValues'
      | 'languages'
      | 'scopesOf'
      | 'defaultScope'
      | 'store'
      | 'outbox'
      | 'ttl'
      | 'unusedLifetime'
      | 'redirects'
      | 'clock'
      | 'renderErrorPage'
      | 'onServerError'
    >,
    Pick<InteractionOptions, 'connector' | 'pages' | 'scopes' | 'sessions'>,
    Pick<MountOptions, 'registration' | 'audit' | 'introspected'>,
    Pick<StandingsOptions, 'recheck' | 'log'> {
  /** Keys for the cookies, the forms' CSRF tokens and the nonces are derived from these. */
  readonly secrets: Secrets;
  /** Undefined if client ID metadata documents are not supported. */
  readonly documents:
    | Pick<ClientDocumentsOptions, 'allow' | 'deny' | 'network' | 'budget' | 'log' | 'watchCache'>
    | undefined;
  readonly keyring: Keyring;
  /** Counts what apps did. */
  readonly usage: Usage;
  /** The page of connected apps; undefined to disable it. */
  readonly connectedApps: Pick<ConnectedAppsOptions, 'names' | 'timeZone' | 'back'> | undefined;
  /** Called and awaited after every revocation. */
  readonly onRevoked: () => Promise<void>;
}

export interface AuthorizationServer {
  readonly mount: Mount;
  readonly interactions: Interactions;
  /** Undefined if the page is disabled. */
  readonly connectedApps: ConnectedApps | undefined;
  readonly introspect: Introspect;
  /** Call before the gate's own sign-in begins: ends everything that is older than the member's version. */
  signedIn(member: Member): Promise<void>;
  /** What members have approved, to list and to end. */
  readonly grants: Grants;
  /** Administration of members, apps and keys. */
  readonly controls: Omit<Controls, 'store' | 'events'>;
  /** Whether the grant with this id is active. Throws GatewayError `store_unavailable`. */
  readonly stands: (grantId: string) => Promise<boolean>;
  /** Takes over a rotation done by another replica, and rotates if a rotation is due. */
  refreshKeys(): Promise<void>;
}

/** The parts built for one generation of keys. All their state is in the store, so one set can replace another. */
interface Parts {
  readonly provider: Provider;
  readonly mount: Mount;
  readonly interactions: Interactions;
  readonly connectedApps: ConnectedApps | undefined;
  readonly introspect: Introspect;
}

/**
 * Creates the authorization server. oidc-provider takes its keys only at construction, so each generation of keys gets
 * a new provider. Requests in progress finish on the old one.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { origin, secrets, store, clock, keyring, usage } = options;
  const scopes = Object.keys(options.scopes);
  const members = storedMembers(store);
  const csrfKeys = deriveKeys(secrets, 'csrf');
  const suspensions = storedSuspensions(store, clock);
  const grants = storedGrants(store, options.onRevoked, options.outbox);
  const standings = createStandings({ ...options, grants });
  const connector = standings.watched(options.connector);
  const documents =
    options.documents === undefined
      ? undefined
      : createClientDocuments({
          ...options.documents,
          ownHost: new URL(origin).hostname,
          scope: formatScope(scopes),
          store,
          clock,
          judge: (metadata) => judgeClient(current.provider, metadata, options.redirects),
        });

  const replay = answerReplay(store, clock, options.ttl.replayWindow);

  let version = '';
  const assemble = (): Parts => {
    version = keyring.version();
    const provider = createProvider({
      ...options,
      scopes,
      registration: options.registration !== undefined,
      members,
      suspensions,
      standings,
      documents,
      keys: keyring.privateKeys(),
      cookieKeys: deriveKeys(secrets, 'cookies'),
      dpopNonceKey: deriveKey(secrets[0], 'dpop-nonce'),
    });
    errorRedirectRule(provider, { ...options, grants, connector });
    grantErrorRule(provider);
    return {
      provider,
      mount: mountProvider({
        ...options,
        scopes,
        provider,
        replay,
      }),
      interactions: createInteractions({
        ...options,
        connector,
        provider,
        members,
        standings,
        grants,
        connectedApps: options.connectedApps && ENDPOINTS.apps,
        suspensions,
        csrfKeys,
      }),
      connectedApps:
        options.connectedApps &&
        createConnectedApps({ ...options, ...options.connectedApps, connector, provider, grants, usage, csrfKeys }),
      introspect: createIntrospect(provider, members),
    };
  };
  let current = assemble();
  /** Rebuilds the parts if the keys have changed. Others that share the keyring may have changed them. */
  const keepUp = () => {
    if (keyring.version() !== version) current = assemble();
  };

  const gone: Handler = () => {
    throw new GatewayError('not_found');
  };
  /** A handler that picks its part when the request arrives. */
  const of =
    (pick: (parts: Parts) => Handler): Handler =>
    (exchange) =>
      pick(current)(exchange);

  return {
    mount: {
      plain: of(({ mount }) => mount.plain),
      authorization: of(({ mount }) => mount.authorization),
      resume: of(({ mount }) => mount.resume),
      form: of(({ mount }) => mount.form),
      registration: current.mount.registration && {
        register: of(({ mount }) => mount.registration?.register ?? gone),
        manage: of(({ mount }) => mount.registration?.manage ?? gone),
      },
    },
    interactions: {
      start: of(({ interactions }) => interactions.start),
      returned: of(({ interactions }) => interactions.returned),
      switchAccount: of(({ interactions }) => interactions.switchAccount),
      decide: of(({ interactions }) => interactions.decide),
    },
    connectedApps: current.connectedApps && {
      list: of(({ connectedApps }) => connectedApps?.list ?? gone),
      returned: of(({ connectedApps }) => connectedApps?.returned ?? gone),
      ask: of(({ connectedApps }) => connectedApps?.ask ?? gone),
      disconnect: of(({ connectedApps }) => connectedApps?.disconnect ?? gone),
    },
    introspect: (token) => current.introspect(token),
    signedIn: standings.signedIn,
    grants,
    stands: grants.stands,
    controls: {
      account: createAccountControl({
        grants,
        members,
        suspensions,
        removeClient: (id) => clientRecords(options).remove(id),
        store,
        clock,
        audit: options.audit,
      }),
      keys: createKeyControl({
        keyring,
        onChanged: keepUp,
        audit: options.audit,
      }),
    },
    async refreshKeys() {
      await keyring.refresh();
      keepUp();
    },
  };
}
