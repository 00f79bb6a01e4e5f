import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import type { Controls } from '../actions/controls.ts';
import { callerCheck, callersOf } from '../authorization-server/administration/caller.ts';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { EventsPart } from '../events/part.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { once } from '../http/once.ts';
import { hostCheck } from '../operations/admin-callers.ts';
import { createHealth } from '../operations/health.ts';
import type { ConsoleUses } from '../operator/console/part.ts';
import { createAssertionTrial } from '../upstream/assertion-trial.ts';
import type { GatePart } from './part.ts';

interface AdminUses extends Pick<ConsoleUses, 'pools' | 'observer' | 'inFlight' | 'share'> {
  readonly server: Pick<AuthorizationServer, 'controls' | 'grants'>;
  readonly events: EventsPart;
  /** The parts of the gate that were opened. */
  readonly parts: readonly GatePart[];
  /** Whether the gate is shutting down. */
  readonly draining: () => boolean;
}

/**
 * Creates the handler of the admin listener from the configuration. Its app is created, and Express loaded, with the first
 * request.
 */
export function openAdmin(foundation: Foundation, loaded: LoadedConfig, uses: AdminUses): RequestListener {
  const { config } = loaded;
  const { server, events, pools, inFlight, parts, draining } = uses;
  const { store, counters, keyring, reseal, metrics, audit, clock, log } = foundation;
  const health = createHealth(foundation, loaded, {
    draining,
    mentioned: parts.flatMap((part) => part.health ?? []),
  });
  metrics.watch({ ready: async () => (await health.ready()).ok });
  const callers = callersOf(loaded, { store, counters, clock, audit });
  const controls: Controls = {
    ...server.controls,
    store: { reseal },
    events: events.control,
    assertions: { try: createAssertionTrial({ config, pools, signing: () => keyring.signing(), clock }) },
    audit,
  };
  const createApp = async () => {
    const [{ adminApp }, { commandRouter }, { webhookReceiver }, { openConsole }] = await Promise.all([
      import('../operations/admin.ts'),
      import('../actions/router.ts'),
      import('../authorization-server/administration/webhooks.ts'),
      import('../operator/console/part.ts'),
    ]);
    return adminApp({
      health,
      isOurs: hostCheck([config.listen.admin.host, config.listen.probes?.host ?? [], hostname()].flat()),
      metrics: metrics.exposition,
      answers: Object.fromEntries(parts.flatMap(({ admin = {} }) => Object.entries(admin))),
      commands: commandRouter({
        controls,
        identify: callerCheck(callers),
        receive: webhookReceiver(callers, {
          webhooks: config.admin.webhooks,
          secrets: loaded.webhookSecrets,
          account: server.controls.account,
          log,
        }),
        hold: inFlight.hold,
        onError: (error) => log.error({ err: error }, 'a command failed'),
      }),
      console: openConsole(foundation, loaded, { ...uses, controls, health, callers }),
    });
  };
  return onFirstRequest(createApp, (error) => log.error({ err: error }, 'the admin listener could not be loaded'));
}

/** A listener that is created with the first request, or the next one after a failure. Requests wait for it. */
function onFirstRequest(create: () => Promise<RequestListener>, onError: (error: unknown) => void): RequestListener {
  const created = once(create, { forgetFailure: true });
  return async (request, response) => {
    try {
      (await created())(request, response);
    } catch (thrown) {
      onError(thrown);
      response.destroy();
    }
  };
}
