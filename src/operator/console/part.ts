import type { RequestHandler } from 'express';
import type { Controls } from '../../actions/controls.ts';
import type { Callers } from '../../authorization-server/administration/caller.ts';
import type { AuthorizationServer } from '../../authorization-server/authorization-server.ts';
import type { Share } from '../../config/carried-over.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { EventsPart } from '../../events/part.ts';
import type { Foundation } from '../../foundation/foundation.ts';
import { checkText } from '../../generation/check-text.ts';
import { once } from '../../http/once.ts';
import { type HealthChecks, uptime } from '../../operations/health.ts';
import type { Observer } from '../../operations/observe/observer.ts';
import type { InFlight } from '../../request/in-flight.ts';
import { bytesOf } from '../../storage/sqlite/size.ts';
import type { Pools } from '../../upstream/pools.ts';
import type { ConsoleOptions } from './console.ts';
import { consoleState } from './console-state.ts';
import { type GateStatus, upstreamUses } from './overview/gate-status.ts';

export interface ConsoleUses {
  readonly server: Pick<AuthorizationServer, 'grants'>;
  readonly events: Pick<EventsPart, 'state'>;
  readonly pools: Pools;
  /** Undefined when routes are enforced. */
  readonly observer: Observer | undefined;
  readonly inFlight: InFlight;
  readonly share: Share;
  readonly controls: Controls;
  readonly health: HealthChecks;
  /** Operators sign in with what authenticates commands. */
  readonly callers: Callers;
}

/** The console, which is loaded with the first request for one of its pages. */
export function openConsole(foundation: Foundation, loaded: LoadedConfig, uses: ConsoleUses): RequestHandler {
  const { pages, timeZone } = loaded.config;
  const { share, callers, inFlight } = uses;
  const kept = share.acquire('console', [], consoleState, ({ directory }) => directory?.close());
  const create = async () => {
    const { createConsole } = await import('./console.ts');
    return createConsole({
      callers,
      secret: foundation.secret,
      colour: pages.colour,
      timeZone,
      kept,
      sources: consoleSources(foundation, loaded, uses),
      hold: inFlight.hold,
    });
  };
  const created = once(create, { forgetFailure: true });
  return async (request, response, next) => (await created())(request, response, next);
}

function consoleSources(foundation: Foundation, loaded: LoadedConfig, uses: ConsoleUses): ConsoleOptions['sources'] {
  const { store, clock, log, usage, trail, traffic, recorder } = foundation;
  const { name: school, origin, scopes, tokens, clients, mcp } = loaded.config;
  const { server, events, observer, controls } = uses;
  return {
    ...{ school, scopes, store, clock, usage, trail, traffic, recorder, observer, controls },
    grants: server.grants,
    events: events.state,
    setting: { origin, codeLifetime: tokens.code, replayWindow: tokens.replayWindow },
    gate: gateStatus(foundation, loaded, uses),
    tools: new Map(mcp?.tools.map((tool) => [tool.name, tool])),
    takesNewApps: clients.registration.enabled || clients.documents.enabled,
    configuration: { loaded, check: (text) => checkText(loaded, text) },
    onError: (error) => log.error({ err: error }, 'a page of the console failed'),
  };
}

/** What the console's first page shows of the gate. */
function gateStatus(
  { keyring, reloads, unused, clock }: Foundation,
  loaded: LoadedConfig,
  { health, pools, events, observer }: ConsoleUses,
) {
  const { store, routes } = loaded.config;
  return async (): Promise<GateStatus> => {
    const [ready, bytes, waiting] = await Promise.all([
      health.ready(),
      store.kind === 'sqlite' ? bytesOf(store.path) : undefined,
      // The store's failure is shown by its check.
      events.state().catch(() => undefined),
    ]);
    return {
      health: ready,
      store: { kind: store.kind, bytes },
      keys: keyring.list(),
      upstreams: [...pools.all()].map(([name, { url, admission }]) => {
        const { outage, ...state } = admission.state();
        return {
          ...{ ...state, name, origin: url.origin, uses: upstreamUses(loaded, name) },
          outage: outage && { failures: outage.failures, since: clock() - outage.lasting },
        };
      }),
      reload: reloads.state(),
      config: { profile: loaded.profile, routes: routes.length },
      observing: observer !== undefined,
      unusedApps: unused.apps(),
      events: waiting,
      uptime: uptime(),
    };
  };
}
