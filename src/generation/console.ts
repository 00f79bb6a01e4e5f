import type { RequestHandler } from 'express';
import type { Controls } from '../actions/controls.ts';
import type { LoadedConfig } from '../config/load.ts';
import { once } from '../http/once.ts';
import type { HealthChecks } from '../operations/health.ts';
import type { ConsoleOptions } from '../operator/console/console.ts';
import { consoleState } from '../operator/console/console-state.ts';
import type { DirectoryDeps } from '../operator/console/directory/deps.ts';
import type { GateSources } from '../operator/console/gate-status.ts';
import { bytesOf } from '../storage/sqlite/size.ts';
import type { AdminParts } from './admin-parts.ts';
import { checkText } from './check-text.ts';

/** What the console has in common with the rest of the admin listener. */
interface SharedWithAdmin {
  readonly health: HealthChecks;
  /** Seconds since the process started. */
  readonly uptime: () => number;
  readonly controls: Controls;
}

/** The console, which is loaded with the first request for one of its pages. */
export function consoleHandler(loaded: LoadedConfig, parts: AdminParts, shared: SharedWithAdmin): RequestHandler {
  const { config } = loaded;
  const { foundation, events, observer, inFlight, share } = parts;
  const { secret, store, counters, traffic, recorder, audit, clock, log } = foundation;
  const kept = share.acquire('console', [], consoleState, ({ directory }) => directory?.close());
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
        keys: shared.controls.keys,
        events: { state: () => events.state() },
        observer,
        configuration: { loaded, check: (text) => checkText(loaded, text) },
      },
      timeZone: config.timeZone,
      ...{ store, counters, traffic, audit, clock },
      hold: inFlight.hold,
      directory: directoryDeps(loaded, parts, { controls: shared.controls, directory: kept.directory, onError }),
      onError,
    });
  };
  const created = once(create, { forgetFailure: true });
  return async (request, response, next) => (await created())(request, response, next);
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
  given: Pick<DirectoryDeps, 'controls' | 'directory' | 'onError'>,
): ConsoleOptions['directory'] {
  const { store, usage, trail, clock } = foundation;
  const { name: school, scopes, clients, mcp } = config;
  return {
    ...{ store, usage, trail, clock, school, scopes },
    ...given,
    grants: server.grants,
    tools: new Map(mcp?.tools.map(({ name, title }) => [name, title])),
    takesNewApps: clients.registration.enabled || clients.documents.enabled,
  };
}
