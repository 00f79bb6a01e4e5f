import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAccountEndpoint } from './account/endpoint.ts';
import { isOwnCookie } from './authorization-server/cookies.ts';
import { createInteractions } from './authorization-server/interactions.ts';
import { createIntrospect } from './authorization-server/introspect.ts';
import { loadSigningKeys } from './authorization-server/keys.ts';
import { storedMembers } from './authorization-server/members.ts';
import { mountProvider } from './authorization-server/mount.ts';
import { errorPage } from './authorization-server/pages/error.ts';
import { sendPage } from './authorization-server/pages/layout.ts';
import { STYLESHEET } from './authorization-server/pages/stylesheet.ts';
import { createProvider } from './authorization-server/provider.ts';
import { userinfo } from './authorization-server/userinfo.ts';
import type { LoadedConfig } from './config/load.ts';
import { createDispatch } from './dispatch.ts';
import { GatewayError } from './errors.ts';
import { json, writeAnswer } from './http/answer.ts';
import type { Handler } from './http/exchange.ts';
import { sessionConnector } from './login/session.ts';
import { resourceIndicators } from './oauth/resource-indicator.ts';
import { healthHandler } from './operations/health.ts';
import type { Log } from './operations/log.ts';
import { cachedIntrospect } from './resource-server/cache.ts';
import { createGate } from './resource-server/gate.ts';
import { protectedResourceMetadata } from './resource-server/metadata.ts';
import { routesTable } from './routes.ts';
import { memoryStore } from './storage/memory.ts';
import { deriveKey, sealedStore } from './storage/seal.ts';
import { secretBeside } from './storage/secret.ts';
import { sqliteStore } from './storage/sqlite.ts';
import { type Clock, type Store, unixSeconds } from './storage/store.ts';
import { createCallUpstream } from './upstream/call.ts';
import { createForward } from './upstream/forward.ts';
import { createIdentity } from './upstream/identity.ts';
import { createPools } from './upstream/pools.ts';
import { createRouting } from './upstream/routing.ts';
import { createSite } from './upstream/site.ts';

export interface GatewayOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Gateway {
  readonly publicPort: number;
  readonly adminPort: number;
  /** Stops taking requests, lets those in flight end for at most `seconds`, then closes everything. */
  close(seconds?: number): Promise<void>;
}

const SWEEP_EVERY = 60_000;
const SWEEP_BATCH = 500;

/** Builds every part from the configuration and listens. Throws what keeps it from starting; then nothing is left open. */
export async function startGateway({ loaded, log, clock }: GatewayOptions): Promise<Gateway> {
  const { config } = loaded;
  const { origin } = config;
  const { store, secret } = openStore(loaded, clock);
  try {
    const keys = await loadSigningKeys(store);
    const scopes = Object.keys(config.scopes);
    const resource = { resource: origin, metadataUrl: `${origin}/.well-known/oauth-protected-resource` };
    const indicators = resourceIndicators(origin, config.account === undefined ? [] : [config.account.path]);

    const pools = createPools(config.upstreams);
    const identity = createIdentity({ issuer: origin, signingKey: async () => keys.signing, clock });
    const call = createCallUpstream({ upstreams: config.upstreams, pools, identity });
    const forward = createForward({ upstreams: config.upstreams, pools, identity, origin });
    const siteUpstream = config.site === undefined ? undefined : config.upstreams[config.site.upstream];
    const site =
      siteUpstream === undefined
        ? undefined
        : createSite({
            upstreamUrl: new URL(siteUpstream.url),
            origin,
            timeout: siteUpstream.timeout,
            ownCookie: isOwnCookie,
          });

    const showFailure = (response: ServerResponse, failure: GatewayError, requestId: string) =>
      sendPage(
        response,
        failure.status,
        errorPage({
          school: config.name,
          heading: failure.status < 500 ? 'This did not work' : 'Something is not working',
          message: failure.message,
          code: failure.code,
          requestId,
        }),
        { ...failure.headers },
      );

    const members = storedMembers(store);
    const provider = createProvider({
      origin,
      indicators,
      resourceRequired: config.resourceIndicator === 'required',
      scopes,
      defaultScope: scopes.filter((token) => config.scopes[token]?.kind === 'identity' || token === 'account:read'),
      store,
      members,
      keys,
      cookieKey: deriveKey(secret, 'cookies'),
      ttl: config.tokens,
      clock,
      onRevoked: () => cache.clear(),
      renderErrorPage(ctx, error, description) {
        ctx.respond = false;
        const requestId = String(ctx.res.getHeader('x-request-id') ?? '');
        const view = {
          school: config.name,
          heading: 'This app cannot be connected',
          message: description,
          code: error,
          requestId,
        };
        sendPage(ctx.res, ctx.status, errorPage(view));
      },
      onServerError: (error) => {
        if (!(error instanceof GatewayError)) log.error({ err: error }, 'the authorization server failed');
      },
    });
    const cache = cachedIntrospect(createIntrospect(provider, members), clock);
    const gate = createGate(cache.introspect, () => unixSeconds(clock));

    const account =
      config.account === undefined || loaded.accountFiles === undefined
        ? undefined
        : createAccountEndpoint({
            schemaText: loaded.accountFiles.schema.text,
            mappings: loaded.accountFiles.mappings,
            upstreams: Object.keys(config.upstreams),
            call,
            bodyLimit: config.account.bodyLimit,
            deadline: config.account.deadline,
            onError: (error) => log.error({ err: error }, 'the Account API failed'),
          });

    const metadata = protectedResourceMetadata({ resource: origin, issuer: origin, scopes, name: config.name });
    const routes = routesTable({
      doors: {
        provider: mountProvider({ provider, origin, indicators, scopes, store }),
        interactions: createInteractions({
          provider,
          connector: sessionConnector(config.login, origin, call),
          members,
          indicators,
          origin,
          school: config.name,
          scopes: config.scopes,
          csrfKey: deriveKey(secret, 'csrf'),
          clock,
        }),
        stylesheet: fixed('text/css; charset=utf-8', STYLESHEET),
        protectedResourceMetadata: ({ response }) =>
          writeAnswer(response, json(200, metadata, { 'cache-control': 'public, max-age=300' })),
        userinfo,
        account:
          account === undefined || config.account === undefined
            ? undefined
            : {
                path: config.account.path,
                handler: ({ request, response, principal }) => account(request, response, asMember(principal)),
              },
        forwardTo:
          (upstream) =>
          ({ request, response, target, principal }) =>
            forward(request, response, target, upstream, principal),
      },
      resource,
      configured: config.routes,
      anonymous: config.anonymous,
    });

    const dispatch = createDispatch({
      origin,
      routing: createRouting(routes),
      gate,
      site,
      errorPage: showFailure,
      log,
    });

    let draining = false;
    const publicServer = createServer({ optimizeEmptyRequests: true }, dispatch.request);
    publicServer.on('upgrade', dispatch.upgrade);
    const health = healthHandler({ probeStore: () => store.get('SigningKey', 'current'), draining: () => draining });
    const adminServer = createServer((request, response) => void health(request, response));

    await listen(publicServer, config.listen.host, config.listen.port);
    try {
      await listen(adminServer, config.listen.admin.host, config.listen.admin.port);
    } catch (thrown) {
      publicServer.close();
      throw thrown;
    }

    const sweeper = setInterval(() => {
      store.sweep(SWEEP_BATCH).catch((error: unknown) => log.error({ err: error }, 'the store could not be swept'));
    }, SWEEP_EVERY).unref();

    return {
      publicPort: (publicServer.address() as AddressInfo).port,
      adminPort: (adminServer.address() as AddressInfo).port,
      async close(seconds = 10) {
        draining = true;
        clearInterval(sweeper);
        await drain(publicServer, seconds);
        await drain(adminServer, 0);
        site?.close();
        await pools.close();
        await store.close();
      },
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function openStore({ config, secret: named }: LoadedConfig, clock: Clock): { store: Store; secret: string } {
  if (config.store.kind === 'memory') {
    const secret = named ?? crypto.randomUUID() + crypto.randomUUID();
    return { store: sealedStore(memoryStore(clock), secret), secret };
  }
  const inner = sqliteStore(config.store.path, clock);
  const secret = named ?? secretBeside(config.store.path);
  return { store: sealedStore(inner, secret), secret };
}

function fixed(contentType: string, body: string): Handler {
  const headers = {
    'content-type': contentType,
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
  };
  return ({ response }) => writeAnswer(response, { status: 200, headers, body });
}

function asMember(principal: Parameters<Handler>[0]['principal']) {
  if (principal.kind !== 'member') throw new GatewayError('internal');
  return principal;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function drain(server: Server, seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), seconds * 1000);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
