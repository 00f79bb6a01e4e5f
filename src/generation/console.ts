import type { RequestHandler } from 'express';
import type { CommandedBy } from '../authorization-server/administration/account-control.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { HealthChecks } from '../operations/health.ts';
import type { ConsoleOptions } from '../operator/console/console.ts';
import { consoleState } from '../operator/console/console-state.ts';
import type { Directory } from '../operator/console/directory/directory.ts';
import type { GateSources } from '../operator/console/gate-status.ts';
import { bytesOf } from '../storage/sqlite/size.ts';
import type { AdminParts } from './admin-parts.ts';
import { checkText } from './check-text.ts';

/** What the console has in common with the rest of the admin listener. */
interface SharedWithAdmin {
  readonly health: HealthChecks;
  /** Seconds since the process started. */
  readonly uptime: () => number;
  /** Sends waiting events now. Throws GatewayError `not_found` when no events are configured. */
  readonly retryEvents: (decision: CommandedBy) => Promise<{ readonly pending: number }>;
}

/** The console, which is loaded with the first request for one of its pages. */
export function consoleHandler(loaded: LoadedConfig, parts: AdminParts, shared: SharedWithAdmin): RequestHandler {
  const { config } = loaded;
  const { foundation, server, events, observer, inFlight, share } = parts;
  const { secret, store, counters, traffic, recorder, audit, clock, log } = foundation;
  const kept = share.take('console', [], consoleState, ({ directory }) => directory?.close());
  const create = async () => {
    const [{ createConsole }, { createDirectory }] = await Promise.all([
      import('../operator/console/console.ts'),
      import('../operator/console/directory/directory.ts'),
    ]);
    const onError = (error: unknown) => log.error({ err: error }, 'a page of the console failed');
    kept.directory ??= createDirectory({ store, clock });
    return createConsole({
      school: config.name,
      colour: config.pages.colour,
      origin: config.origin,
      secret,
      secrets: loaded.admin.hmac,
      mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
      kept,
      connections: {
        ...{ recorder, store, clock },
        setting: {
          origin: config.origin,
          codeLifetime: config.tokens.code,
          replayWindow: config.tokens.replayWindow,
        },
      },
      gate: gateSources(loaded, parts, shared),
      operate: {
        keys: server.controls.keys,
        events: { state: () => events.state(), retry: shared.retryEvents },
        observer,
        configuration: { loaded, check: (text) => checkText(loaded, text) },
      },
      timeZone: config.timeZone,
      ...{ store, counters, traffic, audit, clock },
      hold: inFlight.hold,
      directory: directoryDeps(loaded, parts, kept.directory, onError),
      onError,
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
function gateSources(loaded: LoadedConfig, parts: AdminParts, { health, uptime }: SharedWithAdmin): GateSources {
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

/** For the pages about members, apps and grants. */
function directoryDeps(
  { config }: LoadedConfig,
  { foundation, server }: AdminParts,
  directory: Directory,
  onError: (error: unknown) => void,
): ConsoleOptions['directory'] {
  const { store, usage, trail, clock } = foundation;
  const { name: school, scopes, clients, mcp } = config;
  return {
    ...{ store, usage, trail, clock, directory, onError, school, scopes },
    account: server.controls.account,
    grants: server.grants,
    tools: new Map(mcp?.tools.map(({ name, title }) => [name, title])),
    takesNewApps: clients.registration.enabled || clients.documents.enabled,
  };
}
