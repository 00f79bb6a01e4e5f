import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import { callerCheck } from '../authorization-server/administration/caller.ts';
import { commandRouter } from '../authorization-server/administration/commands.ts';
import { createStoreControl } from '../authorization-server/administration/store-control.ts';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { LoadedConfig } from '../config/load.ts';
import { GatewayError } from '../errors.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { adminApp } from '../operations/admin.ts';
import { hostCheck } from '../operations/admin-callers.ts';
import { createHealth } from '../operations/health.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { InFlight } from '../request/in-flight.ts';

export interface AdminParts {
  readonly foundation: Foundation;
  readonly server: Pick<AuthorizationServer, 'controls'>;
  readonly events: Pick<Events, 'state' | 'retry'>;
  /** Undefined when routes are enforced. */
  readonly observer: Observer | undefined;
  readonly inFlight: InFlight;
  /** Whether the gate is shutting down. */
  readonly draining: () => boolean;
}

/** Creates the handler of the admin listener from the configuration. */
export function openAdmin(loaded: LoadedConfig, parts: AdminParts): RequestListener {
  const { config } = loaded;
  const { server, events, observer, inFlight, draining } = parts;
  const { store, counters, keyring, probe, metrics, audit, clock, log } = parts.foundation;
  const health = createHealth({
    probeStore: probe,
    store: config.store.kind,
    signing: () => keyring.signing(),
    config: { routes: config.routes.length, profile: loaded.profile },
    draining,
    observing: observer !== undefined,
    uptime: () => performance.now() / 1000,
    log,
  });
  metrics.watch({ ready: async () => (await health.ready()).ok });
  return adminApp({
    health,
    isOurs: hostCheck([config.listen.admin.host, config.listen.probes?.host ?? [], hostname()].flat()),
    observer,
    metrics: metrics.exposition,
    events,
    commands: commandRouter({
      controls: {
        ...server.controls,
        store: createStoreControl({ reseal: parts.foundation.reseal, audit }),
        events: {
          async retry() {
            if ((await events.state()) !== undefined) return { pending: await events.retry() };
            throw new GatewayError('not_found', {
              message: '`events` is not configured: nothing is sent to the backend.',
            });
          },
        },
      },
      identify: callerCheck({
        secrets: loaded.admin.hmac,
        mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
        store,
        counters,
        clock,
        audit,
      }),
      hold: inFlight.hold,
      onError: (error) => log.error({ err: error }, 'a command failed'),
    }),
  });
}
