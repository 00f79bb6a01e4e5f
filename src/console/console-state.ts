/** What outlives a reload of the configuration. */
export function consoleState() {
  return {
    /** Ids of sessions that were signed out. */
    ended: new Set<string>(),
    /** What the last action of a session did: shown once. */
    notices: new Map<string, string>(),
  };
}

export type ConsoleState = ReturnType<typeof consoleState>;
