// The operator's console on the admin listener: pages rendered on the server, without scripts (docs/console.md).

import type { RequestHandler } from 'express';
import { type CallerCheckOptions, callerRefusals } from '../../authorization-server/administration/caller.ts';
import { deriveKey } from '../../storage/seal.ts';
import { createAccess } from './access.ts';
import { actionRoutes } from './actions/action-routes.ts';
import type { ConsolePanel, ConsoleRoute } from './console-route.ts';
import { type ConsoleState, onceOnly } from './console-state.ts';
import type { DirectoryDeps } from './directory/deps.ts';
import { directoryRoutes } from './directory/directory-routes.ts';
import { registrationPanel } from './directory/registration-page.ts';
import type { GateSources } from './gate-status.ts';
import { type OperateOptions, operateRoutes } from './operate/operate.ts';
import { overviewRoute } from './overview.ts';
import type { Explaining } from './recorder/explained.ts';
import { recorderPanel, recorderRoutes } from './recorder/pages.ts';
import { consoleRouter } from './router.ts';
import { createSessions } from './session.ts';
import { consoleIcon, consoleStylesheet } from './stylesheet.ts';
import { createTimes, type Times } from './times.ts';
import { type TrafficOptions, trafficPanel, trafficRoutes } from './traffic/page.ts';

export interface ConsoleOptions extends CallerCheckOptions {
  readonly school: string;
  readonly colour: string;
  readonly timeZone: string;
  readonly origin: string;
  /** The secret of the store, from which the key of the sessions is derived. */
  readonly secret: string;
  readonly kept: ConsoleState;
  readonly traffic: TrafficOptions['traffic'];
  readonly operate: Pick<OperateOptions, 'keys' | 'events' | 'observer' | 'configuration'>;
  readonly connections: Omit<Explaining, 'times'>;
  readonly gate: GateSources;
  /** For the pages about apps, members and grants. */
  readonly directory: Omit<DirectoryDeps, 'times'>;
  readonly hold: (work: Promise<void>) => void;
  readonly onError: (error: unknown) => void;
}

/** Each part of the console adds a line. */
function routesOf(options: ConsoleOptions, times: Times): readonly ConsoleRoute[] {
  return [
    ...trafficRoutes({ ...options, times }),
    ...directoryRoutes({ ...options.directory, times }),
    ...actionRoutes({ ...options.directory, times }),
    ...recorderRoutes({ ...options.connections, times }),
    ...operateRoutes({ ...options, ...options.operate, times }),
  ];
}

/** Each part that shows something on the first page adds a line. */
function panelsOf(options: ConsoleOptions, times: Times): readonly ConsolePanel[] {
  return [
    trafficPanel({ ...options, times }),
    recorderPanel({ ...options.connections, times }),
    registrationPanel({ ...options.directory, times }),
  ];
}

export function createConsole(options: ConsoleOptions): RequestHandler {
  const { school, colour, origin, secret, secrets, mtls, kept, store, counters, clock, audit, hold, onError } = options;
  const sessions = createSessions({ key: deriveKey(secret, `console ${origin}`), secrets, mtls, clock });
  const access = createAccess({
    ...{ school, sessions, secrets, mtls: mtls !== undefined, audit, clock },
    onceOnly: onceOnly(kept, { store, clock, onError }),
    refusal: callerRefusals({ counters, clock, audit }),
  });
  const { gate, timeZone } = options;
  const times = createTimes(timeZone, clock);
  const overview = overviewRoute({ gate, times, panels: panelsOf(options, times), clock, onError });
  const routes = [overview, ...routesOf(options, times)];
  return consoleRouter({
    ...{ school, routes, sessions, access, hold, onError },
    stylesheet: consoleStylesheet(colour),
    icon: consoleIcon(colour),
    notices: kept.notices,
  });
}
