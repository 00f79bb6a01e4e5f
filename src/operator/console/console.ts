// The operator's console on the admin listener: pages rendered on the server, without scripts (docs/console.md).

import type { Callers } from '../../authorization-server/administration/caller.ts';
import { deriveKey } from '../../storage/seal.ts';
import { createAccess } from './access.ts';
import type { ConsolePage } from './console-page.ts';
import { type ConsoleState, onceOnly } from './console-state.ts';
import { createDirectory } from './directory/directory.ts';
import { createFrame } from './frame.ts';
import { createTimes } from './kit/times.ts';
import { createProposals } from './operate/proposal.ts';
import { PAGES } from './pages.ts';
import { consoleRouter } from './router.ts';
import { createSessions } from './session.ts';
import type { ConsoleSources } from './sources.ts';

/** What every console is made of. */
export interface ConsoleBase {
  /** The secrets and certificates that open the console, as they authenticate commands. */
  readonly callers: Callers;
  /** The secret of the store, from which the key of the sessions is derived. */
  readonly secret: string;
  readonly colour: string;
  readonly kept: ConsoleState;
  readonly hold: (work: Promise<void>) => void;
}

export interface ConsoleOptions extends ConsoleBase {
  /** An IANA name: the time zone of the site. */
  readonly timeZone: string;
  readonly sources: Omit<ConsoleSources, 'times' | 'directory' | 'proposals'>;
}

/** A console with these pages. `of` is whose it is, for the key of its sessions. */
export function consoleOf<Sources extends Pick<ConsoleSources, 'school' | 'onError'>>(
  { callers, secret, colour, kept, hold }: ConsoleBase,
  { of, pages, sources }: { of: string; pages: readonly ConsolePage<Sources>[]; sources: Sources },
) {
  const { onError } = sources;
  const frame = createFrame(sources.school, colour, pages);
  const sessions = createSessions(deriveKey(secret, `console ${of}`), callers);
  const access = createAccess(callers, { frame, sessions, onceOnly: onceOnly(kept, { ...callers, onError }) });
  return consoleRouter({ ...{ frame, sessions, access, hold, pages, sources }, notices: kept.notices });
}

/** The console of one school. */
export function createConsole({ timeZone, sources, ...base }: ConsoleOptions) {
  const { store, clock, observer, configuration, setting } = sources;
  const { kept } = base;
  kept.directory ??= createDirectory(store, clock);
  return consoleOf(base, {
    of: setting.origin,
    pages: PAGES,
    sources: {
      ...sources,
      times: createTimes(timeZone, clock),
      directory: kept.directory,
      proposals: observer && createProposals(configuration, observer),
    },
  });
}
