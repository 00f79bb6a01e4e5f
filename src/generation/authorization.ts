import { holdsCalls } from '../approvals/kind.ts';
import { createAuthorizationServer } from '../authorization-server/authorization-server.ts';
import { fetchBudget } from '../authorization-server/client-documents/budget.ts';
import type { DocumentNetwork } from '../authorization-server/client-documents/network.ts';
import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import { createPages, preferLanguages } from '../authorization-server/pages/pages.ts';
import { refusedApp } from '../authorization-server/refused-app.ts';
import { registrationLimits } from '../authorization-server/registration/limits.ts';
import type { PurposeOf } from '../authorization-server/sign-in/purpose.ts';
import type { SignIn } from '../authorization-server/sign-in/sign-in.ts';
import type { SignInOptions } from '../authorization-server/sign-in/sign-in-handlers.ts';
import type { Share } from '../config/carried-over.ts';
import type { LoadedConfig } from '../config/load.ts';
import { pagesOrigin } from '../config/pages.ts';
import type { Config } from '../config/schema.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import { GatewayError } from '../errors.ts';
import type { Outbox } from '../events/outbox.ts';
import type { Foundation } from '../foundation/foundation.ts';
import type { Login, Member } from '../login/connector.ts';
import { memberCheck } from '../login/member-check.ts';
import { openLogin } from '../login/open-login.ts';
import type { RoleScopes } from '../roles/role-scopes.ts';
import type { ServedResources } from './resources.ts';
import type { UpstreamLanes } from './upstreams.ts';

/** Sign-in, consent and their pages. */
export type OpenedAuthorization = Awaited<ReturnType<typeof openAuthorization>>;

interface AuthorizationUses {
  readonly lanes: Pick<UpstreamLanes, 'call' | 'sessions'>;
  readonly served: ServedResources;
  /** Where client ID metadata documents are fetched from. */
  readonly documentNetwork: DocumentNetwork;
  /** Where events for the backend are recorded. */
  readonly outbox: Outbox;
  /** State carried over from an earlier configuration. */
  readonly share: Share;
  readonly roleScopes: RoleScopes;
  readonly forgetRoles: (sub: string) => void;
}

export async function openAuthorization(foundation: Foundation, loaded: LoadedConfig, uses: AuthorizationUses) {
  const { config } = loaded;
  const { origin } = config;
  const pagesAt = pagesOrigin(config);
  const { store, secrets, places, keyring, usage, revocations, metrics, audit, unused, clock, log } = foundation;
  const { share, served, outbox, roleScopes, forgetRoles } = uses;
  const { call, sessions } = uses.lanes;
  // Without a site, nothing of the school is at this origin. The pages may be at another one.
  const back = config.pages.apps.back ?? (config.site === undefined ? undefined : '/');
  const home = back === undefined || pagesAt === origin ? back : new URL(back, origin).href;
  const pages = createPages({
    ...config.pages,
    school: config.name,
    origin: pagesAt,
    languages: loaded.languages,
    home,
    logo: loaded.logo,
    clock,
  });
  const loginParts = {
    origin,
    pagesOrigin: pagesAt,
    call,
    clock,
    upstreams: config.upstreams,
    secrets: loaded.secrets,
    members: loaded.members,
    claims: config.claims,
    log,
    share,
  };
  const handOver = pagesAt === origin ? undefined : { at: origin + ENDPOINTS.handOver, store };
  const login = await openLogin(config.login, loginParts, handOver);
  const signedIn = (member: Member) => server.signedIn(member);
  const purposeOf: PurposeOf = (exchange, returnTo) => server.purposeOf(exchange, returnTo);
  const shared = { store, clock, pages, secrets, audit };
  const signIn = await openSignIn(config.login, login, { ...shared, origin: pagesAt, places, signedIn, purposeOf });

  metrics.watch({ login: () => config.login.kind });
  const server = createAuthorizationServer({
    ...shared,
    origin,
    pagesOrigin: pagesAt,
    indicators: served.indicators,
    resourceRequired: config.resourceIndicator === 'required',
    documentation: origin + DISCOVERY_PATHS.authMd,
    policyUri: config.pages.policyUri,
    tosUri: config.pages.tosUri,
    resourceServers: loaded.resourceServers,
    acrValues: config.login.acrValues,
    languages: loaded.languages.map(({ tag }) => tag),
    scopes: config.scopes,
    claims: config.claims,
    scopesOf: served.scopesOf,
    defaultScope: Object.keys(config.scopes).filter(
      (token) => config.scopes[token]?.kind === 'identity' || token === 'account:read',
    ),
    outbox,
    roleScopes,
    forgetRoles,
    connector: signIn.connector,
    sessions,
    timeZone: config.timeZone,
    approvalPages: holdsCalls(config)
      ? (await import('../authorization-server/approvals/approval-pages.ts')).createApprovalPages
      : undefined,
    connectedApps: {
      names: { scopes: config.scopes, tools: new Map(config.mcp?.tools.map((tool) => [tool.name, tool])) },
    },
    home,
    ttl: config.tokens,
    keyring,
    usage,
    ...clientsOf(foundation, loaded, uses),
    introspected: unused.used,
    log,
    recheck: memberCheck(config.login, login, loaded.recheckKey, call),
    onRevoked: revocations.announce,
    renderErrorPage(ctx, code, detail) {
      ctx.respond = false;
      const requestId = String(ctx.res.getHeader('x-request-id') ?? '');
      preferLanguages(ctx.oidc.params?.ui_locales ?? ctx.query.ui_locales);
      pages.refuse(ctx.res, ctx.status, { code, detail, requestId, app: refusedApp(ctx) });
    },
    onServerError: (error) => {
      if (!(error instanceof GatewayError)) log.error({ err: error }, 'the authorization server failed');
    },
  });

  return {
    pages,
    signInHandlers: signIn.handlers,
    server,
    async close() {
      if (login.shape === 'credentials') await login.close?.();
    },
  };
}

/** How apps become known: by their client ID metadata documents, and by registration. */
function clientsOf(
  { counters, metrics, audit, clock, log }: Foundation,
  { config, initialAccessToken }: LoadedConfig,
  { documentNetwork, share }: AuthorizationUses,
) {
  const { documents, redirects, registration } = config.clients;
  const limited = () => metrics.limited('registration');
  return {
    documents: documents.enabled
      ? {
          ...documents,
          network: documentNetwork,
          budget: share.acquire('document fetches', undefined, () => fetchBudget(clock)),
          log,
          watchCache: metrics.watchCache,
        }
      : undefined,
    registration: registration.enabled
      ? {
          initialAccessToken,
          redirects,
          limits: registrationLimits({ ...registration, counters, clock, audit, limited }),
        }
      : undefined,
    unusedLifetime: registration.unusedLifetime,
    redirects,
  };
}

/** How members sign in. The code of the gate's own sign-in is loaded only for a login that needs it. */
async function openSignIn(config: Config['login'], login: Login, options: SignInOptions): Promise<SignIn> {
  if (login.shape === 'ambient') return { connector: login.connector, handlers: undefined };
  const { createSignIn } = await import('../authorization-server/sign-in/sign-in.ts');
  return createSignIn(config, login, options);
}
