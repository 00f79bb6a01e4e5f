import { setTimeout as sleep } from 'node:timers/promises';
import { accountHandler } from './account/handler.ts';
import { callerCheck } from './authorization-server/administration/caller.ts';
import { createCommands } from './authorization-server/administration/commands.ts';
import { createAuthorizationServer } from './authorization-server/authorization-server.ts';
import { type DocumentNetwork, INTERNET } from './authorization-server/client-documents/network.ts';
import { endConnection } from './authorization-server/end-connection.ts';
import { ENDPOINTS } from './authorization-server/endpoints.ts';
import { openKeyring } from './authorization-server/keyring.ts';
import { createPages } from './authorization-server/pages/pages.ts';
import { refusedApp } from './authorization-server/refused-app.ts';
import { registrationLimits } from './authorization-server/registration/limits.ts';
import { configuredSignIn } from './authorization-server/sign-in/configured.ts';
import { userinfo } from './authorization-server/userinfo.ts';
import type { LoadedConfig } from './config/load.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { DISCOVERY_PATHS } from './discovery/paths.ts';
import { upstreamApis } from './discovery/upstream-apis.ts';
import { createDispatch } from './dispatch.ts';
import { GatewayError } from './errors.ts';
import { json, writeAnswer } from './http/answer.ts';
import type { Handler } from './http/exchange.ts';
import { createProvenance } from './http/provenance.ts';
import { buildInterfaces } from './interfaces.ts';
import { createAdmission } from './limits/admission.ts';
import { openListeners } from './listeners.ts';
import type { Member } from './login/connector.ts';
import { cookieFilter } from './login/cookies.ts';
import { createLogin } from './login/create-login.ts';
import { checkDriver } from './login/database/check-driver.ts';
import { memberCheck } from './login/member-check.ts';
import { MCP_PATHS } from './mcp/mcp.ts';
import type { ServerFactory } from './mcp/server.ts';
import { createAccessLog } from './operations/access-log.ts';
import { adminHandler } from './operations/admin.ts';
import { type Audit, createAudit } from './operations/audit.ts';
import { FIRST_QUERY } from './operations/graphiql/first-query.ts';
import { createLineWriter } from './operations/line-writer.ts';
import type { Log } from './operations/log.ts';
import { createMetrics } from './operations/metrics.ts';
import { createObserver } from './operations/observe/observer.ts';
import { observedStore } from './operations/observed-store.ts';
import { createReadiness } from './operations/readiness.ts';
import { createRequestRecords } from './operations/request-records.ts';
import { unusedTokens } from './operations/unused-tokens.ts';
import { cachedIntrospect } from './resource-server/cache.ts';
import { proofCheck } from './resource-server/dpop.ts';
import { createGate } from './resource-server/gate.ts';
import { protectedResourceMetadata } from './resource-server/metadata.ts';
import { createOpenAnswers } from './resource-server/open-answers.ts';
import { type Route, routesTable } from './routes.ts';
import { servedResources } from './served-resources.ts';
import { openStore } from './storage/open.ts';
import { withPatience } from './storage/patience.ts';
import { deriveKey } from './storage/seal.ts';
import { type Clock, unixSeconds } from './storage/store.ts';
import { startUpkeep } from './upkeep.ts';
import { ownRecordHandler } from './upstream/own-record-handler.ts';
import type { Pools } from './upstream/pools.ts';
import { createRouting } from './upstream/routing.ts';
import { openLanes } from './upstream-lanes.ts';

export interface GatewayOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** The file descriptor the access log goes to, if the configuration asks for one; undefined: nowhere. */
  readonly accessDescriptor?: number;
  /** Where client ID metadata documents are fetched from, when it is not the internet. */
  readonly documentNetwork?: DocumentNetwork;
  /** What answers at /mcp, when it is not the configured tools. */
  readonly mcpServer?: ServerFactory;
}

export interface Gateway {
  readonly publicPort: number;
  readonly adminPort: number;
  /**
   * Says that it is not ready, stops taking requests, lets those in flight end for at most `seconds`, then closes
   * everything. Without `seconds` as configured, which may begin with a notice.
   */
  close(seconds?: number): Promise<void>;
}

const OBSERVING =
  'OBSERVE MODE: what the routes would refuse is let through to the site; take `enforcement` out to enforce them';

/** Builds every part from the configuration and listens. Throws what keeps it from starting; then nothing is left open. */
export async function startGateway({
  loaded,
  log,
  clock,
  accessDescriptor,
  documentNetwork = INTERNET,
  mcpServer,
}: GatewayOptions): Promise<Gateway> {
  const { config } = loaded;
  const { origin } = config;
  const {
    store: innerStore,
    secret,
    bus,
    counters,
    check,
    probe,
  } = openStore(config.store, loaded, clock, (kind, err) =>
    log.error({ kind, err }, 'an entry of the store is damaged, and counts as absent'),
  );
  const accessLines =
    config.log.access && accessDescriptor !== undefined
      ? createLineWriter(accessDescriptor, (error) => log.error({ err: error }, 'the access log cannot be written'))
      : undefined;
  let pools: Pools | undefined;
  const metrics = createMetrics({
    droppedLines: () => accessLines?.dropped() ?? 0,
    upstreams: () => pools?.states() ?? [],
    unused: () => ({ connections: unused.connections(), apps: unused.apps() }),
  });
  const store = observedStore(innerStore, metrics.storeFailed);
  const unused = unusedTokens({ store, replicas: config.store.kind === 'redis', clock, log });
  try {
    await checkDriver(loaded);
    for (const warning of await check()) log.warn(warning);
    const keyring = await openKeyring(store, clock, config.keys.rotate);
    const scopes = Object.keys(config.scopes);
    const { resources, indicators, scopesOf, nameOf } = servedResources(config);

    const written = createAudit(log);
    const audit: Audit = (event) => {
      written(event);
      unused.heard(event);
    };
    const lanes = openLanes({
      loaded,
      store,
      clock,
      signing: () => keyring.signing(),
      answered: metrics.called,
      ended: (member, why) => endConnection(server.grants, audit)(member, why),
    });
    pools = lanes.pools;
    const { call, forward, site } = lanes;
    const pages = createPages({ ...config.pages, school: config.name, origin, logo: loaded.logo });

    const login = createLogin(config.login, {
      origin,
      call,
      clock,
      upstreams: config.upstreams,
      secrets: loaded.loginSecrets,
      members: loaded.members,
      log,
    });
    const signedIn = (member: Member) => server.signedIn(member);
    const signIn = configuredSignIn(config.login, { login, origin, store, clock, pages, secret, counters, signedIn });

    const { documents, redirects, registration } = config.clients;
    const server = createAuthorizationServer({
      origin,
      indicators,
      resourceRequired: config.resourceIndicator === 'required',
      documentation: origin + DISCOVERY_PATHS.authMd,
      resourceServers: loaded.resourceServers,
      acrValues: config.login.acrValues,
      languages: config.pages.languages,
      scopes: config.scopes,
      scopesOf,
      defaultScope: scopes.filter((token) => config.scopes[token]?.kind === 'identity' || token === 'account:read'),
      store,
      secret,
      connector: signIn.connector,
      sessions: lanes.sessions,
      pages,
      connectedApps: config.pages.apps.enabled
        ? {
            names: { scopes: config.scopes, tools: new Map(config.mcp?.tools.map(({ name, title }) => [name, title])) },
            timeZone: config.pages.timeZone,
            back: config.pages.apps.back,
          }
        : undefined,
      ttl: config.tokens,
      keyring,
      documents: documents.enabled ? { ...documents, network: documentNetwork, log } : undefined,
      registration: registration.enabled
        ? {
            initialAccessToken: loaded.initialAccessToken,
            redirects,
            limits: registrationLimits({ ...registration, counters, clock, audit }),
          }
        : undefined,
      unusedLifetime: registration.unusedLifetime,
      redirects,
      clock,
      audit,
      introspected: unused.used,
      log,
      recheck: memberCheck(config.login, login, loaded.recheckKey, call),
      onRevoked() {
        revoked();
        // Without the bus the other replicas believe what they remember until it runs out by itself.
        return bus.announce().catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not told'));
      },
      renderErrorPage(ctx, code, detail) {
        ctx.respond = false;
        const requestId = String(ctx.res.getHeader('x-request-id') ?? '');
        pages.prefer(ctx.res, ctx.oidc.params?.ui_locales ?? ctx.query.ui_locales);
        pages.refuse(ctx.res, ctx.status, { code, detail, requestId, app: refusedApp(ctx) });
      },
      onServerError: (error) => {
        if (!(error instanceof GatewayError)) log.error({ err: error }, 'the authorization server failed');
      },
    });
    const cache = cachedIntrospect(unused.observed(server.introspect), clock);
    const openAnswers = createOpenAnswers({
      introspect: cache.introspect,
      stands: server.stands,
      clock,
      onCut: (answers) => log.info({ answers }, 'answers under way were cut off: what let them in was revoked'),
    });
    const revoked = () => {
      cache.clear();
      openAnswers.revoked();
    };
    bus.subscribe(revoked);
    const gate = createGate(cache.introspect, proofCheck(store, clock), () => unixSeconds(clock));

    const { account, mcp } = buildInterfaces(loaded, {
      call,
      audit,
      serverOf: mcpServer,
      remembered: { store, counters, clock },
      onError: (error, what) => log.error({ err: error }, what),
    });

    const metadataHandler = (resource: string, offered: readonly string[], name: string): Handler => {
      const documentation = origin + DISCOVERY_PATHS.authMd;
      const document = protectedResourceMetadata({ resource, issuer: origin, scopes: offered, name, documentation });
      return ({ response }) => writeAnswer(response, json(200, document, { 'cache-control': 'public, max-age=300' }));
    };
    const admission = createAdmission(config.limits, counters, clock, audit);
    const discovery = createDiscovery({
      service: {
        config,
        endpoints: ENDPOINTS,
        mcp: mcp === undefined ? undefined : { ...MCP_PATHS, tools: mcp.tools },
      },
      routes: () => routes,
      upstreamApis: upstreamApis({
        upstreams: config.upstreams,
        documents: loaded.upstreamDocuments,
        fetch: (upstream, path, signal) =>
          call({ upstream, method: 'GET', path, headers: { accept: 'application/json' }, signal }),
        clock,
        warn: (upstream, reason) => log.warn({ upstream, reason }, 'the OpenAPI document of an upstream cannot be had'),
      }),
    });
    const routes: ReturnType<typeof routesTable> = routesTable({
      doors: {
        provider: server.mount,
        interactions: server.interactions,
        connectedApps: server.connectedApps,
        signIn: signIn.doors,
        stylesheet: pages.stylesheet,
        logo: pages.logo,
        protectedResourceMetadata: ({ resource }) => metadataHandler(resource, scopesOf(resource), nameOf(resource)),
        userinfo,
        account:
          account === undefined || config.account === undefined
            ? undefined
            : {
                path: config.account.path,
                handler: accountHandler(account.endpoint, audit),
              },
        mcp:
          mcp === undefined
            ? undefined
            : {
                ...mcp.doors,
                limits: admission.limitsOf({ match: MCP_PATHS.open, limits: config.mcp?.limits }),
                metadata: ({ resource, offered }) => metadataHandler(resource.resource, [...offered], config.name),
                handler: mcp.handler,
              },
        ...discovery,
        fieldsFor: ({ upstream }) => config.upstreams[upstream]?.headers.request.allow,
        limitsOf: admission.limitsOf,
        forward: (entry) => {
          const limits = {
            request: entry.bodyLimit ?? config.limits.requestBody,
            response: entry.responseLimit ?? config.limits.responseBody,
          };
          return ownRecordHandler(entry, limits.request, (exchange, rewrite) =>
            forward(exchange, entry.upstream, limits, rewrite),
          );
        },
      },
      resources,
      configured: config.routes,
      anonymous: config.anonymous,
    });

    const hasSession = cookieFilter([
      ...(config.login.kind === 'session' ? config.login.cookies : []),
      ...config.enforcement.cookies,
    ]);
    const observer = createObserver({ config, hasSession: (cookie) => hasSession(cookie) !== '', clock });
    if (observer !== undefined) log.warn(OBSERVING);
    const isWatched = ({ entry }: Route) => entry !== undefined && observer?.watches(entry) === true;
    const enforced = createRouting(routes.filter(({ value }) => !isWatched(value)));

    const dispatch = createDispatch({
      origin,
      observing: observer === undefined ? undefined : { observer, enforced },
      routing: createRouting(routes),
      provenanceOf: createProvenance(config.listen),
      gate,
      openAnswers,
      admission,
      site,
      longestUrl: config.limits.url,
      records: createRequestRecords({
        metrics,
        accessLog:
          accessLines === undefined
            ? undefined
            : createAccessLog({
                line: accessLines.write,
                clock,
                member: config.log.member,
                key: deriveKey(secret, 'access-log-member'),
              }),
        used: config.pages.apps.enabled ? server.usage.count : undefined,
        log,
      }),
      errorPage: pages.fail,
    });

    let draining = false;
    const admin = adminHandler({
      readiness: createReadiness({
        probeStore: probe,
        draining: () => draining,
        observing: observer !== undefined,
        log,
      }),
      observer,
      rotateKeys: () => server.rotateKeys(),
      metrics: metrics.exposition,
      commands: createCommands({
        control: server.control,
        identify: callerCheck({
          secrets: loaded.admin.hmac,
          mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
          store,
          counters,
          clock,
          audit,
        }),
        onError: (error) => log.error({ err: error }, 'a command failed'),
      }),
      graphiql:
        account === undefined || config.account === undefined
          ? undefined
          : {
              endpoint: new URL(config.account.path, config.origin).href,
              query: 'mistakes' in account.prepare(FIRST_QUERY) ? undefined : FIRST_QUERY,
              introspection: config.account.introspection,
            },
    });
    const { listen } = config;
    const listeners = await openListeners(
      { ...dispatch, request: (request, response) => withPatience(() => dispatch.request(request, response)) },
      { ...listen, longestHead: config.limits.headers },
      (request, response) => void admin(request, response),
      { ...listen.admin, tls: loaded.admin.mtls },
    );

    const stopUpkeep = startUpkeep({ store, server, unused, draining: () => draining, log });

    return {
      publicPort: listeners.publicPort,
      adminPort: listeners.adminPort,
      async close(seconds) {
        draining = true;
        listeners.announceDrain();
        stopUpkeep();
        openAnswers.close();
        if (seconds === undefined) await sleep(listen.drain.notice * 1000);
        if (site !== undefined) site.hangUp();
        await listeners.drain(seconds ?? listen.drain.grace);
        if (site !== undefined) site.close();
        await pools?.close();
        if (login.shape === 'credentials') await login.close?.();
        await server.usage.flush().catch((error: unknown) => log.error({ err: error }, 'what apps used last is lost'));
        counters.close();
        await bus.close();
        await store.close();
        await accessLines?.close();
      },
    };
  } catch (thrown) {
    await pools?.close();
    await accessLines?.close();
    counters.close();
    await bus.close();
    await store.close();
    throw thrown;
  }
}
