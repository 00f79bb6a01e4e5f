import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import type { RequestHandler } from 'express';
import { createAssertionControl } from '../authorization-server/administration/assertion-control.ts';
import { callerCheck, callerRefusals } from '../authorization-server/administration/caller.ts';
import { createStoreControl } from '../authorization-server/administration/store-control.ts';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { Share } from '../config/carried-over.ts';
import type { LoadedConfig } from '../config/load.ts';
import { consoleState } from '../console/console-state.ts';
import type { GateSources } from '../console/gate-status.ts';
import { GatewayError } from '../errors.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { hostCheck } from '../operations/admin-callers.ts';
import { createHealth, type HealthChecks } from '../operations/health.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { InFlight } from '../request/in-flight.ts';
import { bytesOf } from '../storage/sqlite-size.ts';
import { createAssertionTrial } from '../upstream/assertion-trial.ts';
import type { Pools } from '../upstream/pools.ts';

export interface AdminParts {
  readonly foundation: Foundation;
  readonly server: Pick<AuthorizationServer, 'controls'>;
  readonly events: Pick<Events, 'state' | 'retry'>;
  readonly pools: Pools;
  /** Undefined when routes are enforced. */
  readonly observer: Observer | undefined;
  readonly inFlight: InFlight;
  readonly share: Share;
  /** Whether the gate is shutting down. */
  readonly draining: () => boolean;
}

/**
 * Creates the handler of the admin listener from the configuration. Its app is created, and Express loaded, with the first
 * request.
 */
export function openAdmin(loaded: LoadedConfig, parts: AdminParts): RequestListener {
  const { config } = loaded;
  const { server, events, pools, observer, inFlight, draining } = parts;
  const { store, counters, keyring, probe, reseal, metrics, audit, clock, log } = parts.foundation;
  const health = createHealth({
    probeStore: probe,
    store: config.store.kind,
    signing: () => keyring.signing(),
    config: { routes: config.routes.length, profile: loaded.profile },
    draining,
    observing: observer !== undefined,
    uptime,
    log,
  });
  metrics.watch({ ready: async () => (await health.ready()).ok });
  const identify = callerCheck({
    secrets: loaded.admin.hmac,
    mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
    store,
    counters,
    clock,
    audit,
  });
  const createApp = async () => {
    const [{ adminApp }, { commandRouter }, { webhookReceiver }] = await Promise.all([
      import('../operations/admin.ts'),
      import('../authorization-server/administration/commands.ts'),
      import('../authorization-server/administration/webhooks.ts'),
    ]);
    return adminApp({
      health,
      isOurs: hostCheck([config.listen.admin.host, config.listen.probes?.host ?? [], hostname()].flat()),
      observer,
      metrics: metrics.exposition,
      events,
      commands: commandRouter({
        controls: {
          ...server.controls,
          store: createStoreControl({ reseal, audit }),
          events: { retry: () => retryEvents(events) },
          assertions: createAssertionControl({
            trial: createAssertionTrial({ config, pools, signing: () => keyring.signing(), clock }),
            audit,
          }),
        },
        identify,
        receive: webhookReceiver({
          webhooks: config.admin.webhooks,
          secrets: loaded.webhookSecrets,
          account: server.controls.account,
          refusal: callerRefusals({ counters, clock, audit }),
          ...{ store, clock, log },
        }),
        hold: inFlight.hold,
        onError: (error) => log.error({ err: error }, 'a command failed'),
      }),
      console: consoleHandler(loaded, parts, health),
    });
  };
  return onFirstRequest(createApp, (error) => log.error({ err: error }, 'the admin listener could not be loaded'));
}

/** The console, which is loaded with the first request for one of its pages. */
function consoleHandler(loaded: LoadedConfig, parts: AdminParts, health: HealthChecks): RequestHandler {
  const { config } = loaded;
  const { foundation, inFlight, share } = parts;
  const { secret, store, counters, audit, recorder, clock, log } = foundation;
  const kept = share.take('console', [], consoleState);
  const create = async () => {
    const { createConsole } = await import('../console/console.ts');
    return createConsole({
      school: config.name,
      colour: config.pages.colour,
      origin: config.origin,
      secret,
      secrets: loaded.admin.hmac,
      mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
      kept,
      connections: {
        ...{ recorder, store, clock, timeZone: config.timeZone },
        setting: {
          origin: config.origin,
          codeLifetime: config.tokens.code,
          replayWindow: config.tokens.replayWindow,
        },
      },
      gate: gateSources(loaded, parts, health),
      timeZone: config.timeZone,
      ...{ store, counters, audit, clock },
      hold: inFlight.hold,
      onError: (error) => log.error({ err: error }, 'a page of the console failed'),
    });
  };
  let created: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    created ??= create().catch((thrown: unknown) => {
      created = undefined;
      throw thrown;
    });
    return (await created)(request, response, next);
  };
}

/** What the console's first page shows of the gate. */
function gateSources(loaded: LoadedConfig, parts: AdminParts, health: HealthChecks): GateSources {
  const { store, routes } = loaded.config;
  const { foundation, pools, events, observer } = parts;
  return {
    health,
    store: { kind: store.kind, bytes: store.kind === 'sqlite' ? () => bytesOf(store.path) : undefined },
    keys: foundation.keyring,
    upstreams: () =>
      [...pools.all()].map(([name, { url, admission }]) => ({ name, origin: url.origin, ...admission.state() })),
    reloads: foundation.reloads.state,
    config: { profile: loaded.profile, routes: routes.length },
    observing: observer !== undefined,
    unusedApps: foundation.unused.apps,
    events: events.state,
    uptime,
  };
}

/** Seconds since the process started. */
function uptime(): number {
  return performance.now() / 1000;
}

async function retryEvents(events: AdminParts['events']): Promise<{ readonly pending: number }> {
  if ((await events.state()) !== undefined) return { pending: await events.retry() };
  throw new GatewayError('not_found', {
    message: '`events` is not configured: nothing is sent to the backend.',
  });
}

/** A listener that is created with the first request, or the next one after a failure. Requests wait for it. */
function onFirstRequest(create: () => Promise<RequestListener>, onError: (error: unknown) => void): RequestListener {
  let created: Promise<RequestListener> | undefined;
  return async (request, response) => {
    try {
      created ??= create();
      (await created)(request, response);
    } catch (thrown) {
      created = undefined;
      onError(thrown);
      response.destroy();
    }
  };
}
