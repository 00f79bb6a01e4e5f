import type { Directory } from './directory/directory.ts';

/** What outlives a reload of the configuration. */
export function consoleState() {
  return {
    /** Ids of sessions that were signed out. */
    ended: new Set<string>(),
    /** What the last action of a session did: shown once. */
    notices: new Map<string, string>(),
    /** Members, apps and grants to search; made with the first page. */
    directory: undefined as Directory | undefined,
  };
}

export type ConsoleState = ReturnType<typeof consoleState>;
