// The operator's console on the admin listener: pages rendered on the server, without scripts (docs/console.md).

import type { RequestHandler } from 'express';
import { callerRefusals } from '../authorization-server/administration/caller.ts';
import type { Audit } from '../operations/audit.ts';
import type { Counters } from '../storage/counters.ts';
import { deriveKey } from '../storage/seal.ts';
import type { Clock, Store } from '../storage/store.ts';
import { createAccess } from './access.ts';
import type { ConsolePanel, ConsoleRoute } from './console-route.ts';
import { type ConsoleState, onceOnly } from './console-state.ts';
import type { GateSources } from './gate-status.ts';
import { overviewRoute } from './overview.ts';
import type { Explaining } from './recorder/explained.ts';
import { recorderPanel, recorderRoutes } from './recorder/pages.ts';
import { consoleRouter } from './router.ts';
import { createSessions } from './session.ts';
import { consoleIcon, consoleStylesheet } from './stylesheet.ts';

export interface ConsoleOptions {
  readonly school: string;
  readonly colour: string;
  readonly timeZone: string;
  readonly origin: string;
  /** The secret of the store, from which the key of the sessions is derived. */
  readonly secret: string;
  /** The secrets that are accepted for commands. */
  readonly secrets: readonly string[];
  /** Client certificates, and their accepted DNS names; undefined when they are not configured. */
  readonly mtls: { readonly names: readonly string[] | undefined } | undefined;
  readonly kept: ConsoleState;
  readonly connections: Explaining;
  readonly gate: GateSources;
  readonly store: Store;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly hold: (work: Promise<void>) => void;
  readonly onError: (error: unknown) => void;
}

/** Each part of the console adds a line. */
function routesOf({ connections }: ConsoleOptions): readonly ConsoleRoute[] {
  return [...recorderRoutes(connections)];
}

/** Each part that shows something on the first page adds a line. */
function panelsOf({ connections }: ConsoleOptions): readonly ConsolePanel[] {
  return [recorderPanel(connections)];
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
  const overview = overviewRoute({ gate, timeZone, panels: panelsOf(options), clock, onError });
  const routes = [overview, ...routesOf(options)];
  return consoleRouter({
    ...{ school, routes, sessions, access, hold, onError },
    stylesheet: consoleStylesheet(colour),
    icon: consoleIcon(colour),
    notices: kept.notices,
  });
}
