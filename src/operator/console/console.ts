// The operator's console on the admin listener: pages rendered on the server, without scripts (docs/console.md).

import type { Callers } from '../../authorization-server/administration/caller.ts';
import { deriveKey } from '../../storage/seal.ts';
import { createAccess } from './access.ts';
import { type ConsoleState, onceOnly } from './console-state.ts';
import { createDirectory } from './directory/directory.ts';
import { createFrame } from './frame.ts';
import { createTimes } from './kit/times.ts';
import { createProposals } from './operate/proposal.ts';
import { PAGES } from './pages.ts';
import { consoleRouter } from './router.ts';
import { createSessions } from './session.ts';
import type { ConsoleSources } from './sources.ts';

export interface ConsoleOptions {
  /** The secrets and certificates that open the console, as they authenticate commands. */
  readonly callers: Callers;
  /** The secret of the store, from which the key of the sessions is derived. */
  readonly secret: string;
  readonly colour: string;
  /** An IANA name: the time zone of the site. */
  readonly timeZone: string;
  readonly kept: ConsoleState;
  readonly sources: Omit<ConsoleSources, 'times' | 'directory' | 'proposals'>;
  readonly hold: (work: Promise<void>) => void;
}

export function createConsole({ callers, secret, colour, timeZone, kept, sources, hold }: ConsoleOptions) {
  const { store, clock, onError, observer, configuration } = sources;
  kept.directory ??= createDirectory(store, clock);
  const frame = createFrame(sources.school, colour, PAGES);
  const sessions = createSessions(deriveKey(secret, `console ${sources.setting.origin}`), callers);
  const access = createAccess(callers, { frame, sessions, onceOnly: onceOnly(kept, { store, clock, onError }) });
  return consoleRouter({
    ...{ frame, sessions, access, hold },
    pages: PAGES,
    notices: kept.notices,
    sources: {
      ...sources,
      times: createTimes(timeZone, clock),
      directory: kept.directory,
      proposals: observer && createProposals(configuration, observer),
    },
  });
}
