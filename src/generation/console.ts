import type { RequestHandler } from 'express';
import type { Controls } from '../actions/controls.ts';
import type { CallerCheckOptions } from '../authorization-server/administration/caller.ts';
import type { LoadedConfig } from '../config/load.ts';
import { once } from '../http/once.ts';
import type { HealthChecks } from '../operations/health.ts';
import type { ConsoleOptions } from '../operator/console/console.ts';
import { consoleState } from '../operator/console/console-state.ts';
import type { GateSources } from '../operator/console/overview/gate-status.ts';
import { bytesOf } from '../storage/sqlite/size.ts';
import type { AdminParts } from './admin-parts.ts';
import { checkText } from './check-text.ts';

/** What the console has in common with the rest of the admin listener. */
interface SharedWithAdmin {
  readonly callers: CallerCheckOptions;
  readonly health: HealthChecks;
  /** Seconds since the process started. */
  readonly uptime: () => number;
  readonly controls: Controls;
}

/** The console, which is loaded with the first request for one of its pages. */
export function consoleHandler(loaded: LoadedConfig, parts: AdminParts, shared: SharedWithAdmin): RequestHandler {
  const { config } = loaded;
  const kept = parts.share.acquire('console', [], consoleState, ({ directory }) => directory?.close());
  const create = async () => {
    const { createConsole } = await import('../operator/console/console.ts');
    return createConsole({
      callers: shared.callers,
      secret: parts.foundation.secret,
      colour: config.pages.colour,
      timeZone: config.timeZone,
      kept,
      sources: consoleSources(loaded, parts, shared),
      hold: parts.inFlight.hold,
    });
  };
  const created = once(create, { forgetFailure: true });
  return async (request, response, next) => (await created())(request, response, next);
}

function consoleSources(loaded: LoadedConfig, parts: AdminParts, shared: SharedWithAdmin): ConsoleOptions['sources'] {
  const { foundation, server, events, observer } = parts;
  const { store, clock, log, usage, trail, traffic, recorder } = foundation;
  const { name: school, origin, scopes, tokens, clients, mcp } = loaded.config;
  return {
    ...{ school, scopes, store, clock, usage, trail, traffic, recorder, observer },
    controls: shared.controls,
    grants: server.grants,
    events: events.state,
    setting: { origin, codeLifetime: tokens.code, replayWindow: tokens.replayWindow },
    gate: gateSources(loaded, parts, shared),
    tools: new Map(mcp?.tools.map(({ name, title }) => [name, title])),
    takesNewApps: clients.registration.enabled || clients.documents.enabled,
    configuration: { loaded, check: (text) => checkText(loaded, text) },
    onError: (error) => log.error({ err: error }, 'a page of the console failed'),
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
