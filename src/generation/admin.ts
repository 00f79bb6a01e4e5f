import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import type { Controls } from '../actions/controls.ts';
import type { CommandedBy } from '../authorization-server/administration/account-control.ts';
import { callerCheck, callerRefusals } from '../authorization-server/administration/caller.ts';
import type { LoadedConfig } from '../config/load.ts';
import { GatewayError } from '../errors.ts';
import { once } from '../http/once.ts';
import { hostCheck } from '../operations/admin-callers.ts';
import { createHealth } from '../operations/health.ts';
import { createAssertionTrial } from '../upstream/assertion-trial.ts';
import type { AdminParts } from './admin-parts.ts';

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
  const callers = {
    secrets: loaded.admin.hmac,
    mtls: loaded.admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names },
    ...{ store, counters, clock, audit },
  };
  const controls: Controls = {
    ...server.controls,
    store: { reseal },
    events: { retry: (decision) => retryEvents(parts, decision) },
    assertions: { try: createAssertionTrial({ config, pools, signing: () => keyring.signing(), clock }) },
    audit,
  };
  const createApp = async () => {
    const [{ adminApp }, { commandRouter }, { webhookReceiver }, { consoleHandler }] = await Promise.all([
      import('../operations/admin.ts'),
      import('../actions/router.ts'),
      import('../authorization-server/administration/webhooks.ts'),
      import('./console.ts'),
    ]);
    return adminApp({
      health,
      isOurs: hostCheck([config.listen.admin.host, config.listen.probes?.host ?? [], hostname()].flat()),
      observer,
      metrics: metrics.exposition,
      events,
      commands: commandRouter({
        controls,
        identify: callerCheck(callers),
        receive: webhookReceiver({
          webhooks: config.admin.webhooks,
          secrets: loaded.webhookSecrets,
          account: server.controls.account,
          refusal: callerRefusals(callers),
          ...{ store, clock, log },
        }),
        hold: inFlight.hold,
        onError: (error) => log.error({ err: error }, 'a command failed'),
      }),
      console: consoleHandler(loaded, parts, { callers, health, uptime, controls }),
    });
  };
  return onFirstRequest(createApp, (error) => log.error({ err: error }, 'the admin listener could not be loaded'));
}

/** Seconds since the process started. */
function uptime(): number {
  return performance.now() / 1000;
}

async function retryEvents(
  { events, foundation }: AdminParts,
  decision: CommandedBy,
): Promise<{ readonly pending: number }> {
  if ((await events.state()) === undefined)
    throw new GatewayError('not_found', { message: '`events` is not configured: nothing is sent to the backend.' });
  const pending = await events.retry();
  foundation.audit({ action: 'events_retried', ...decision });
  return { pending };
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
