import type { Clock } from '../../storage/store.ts';
import type { Log } from '../log.ts';

/** Milliseconds without a request after which the operator is warned: sites have traffic more often. */
const QUIET = 600_000;

/** What to look at when no request arrives. */
export const NO_TRAFFIC =
  'No request for the site has reached this gate for ten minutes, so there is nothing to observe. Is the web server sending everything to it, not only its own addresses? `coursegate snippets` writes the lines (nginx: `location ^~ /`); load them, and compare the address there with `listen`.';

/**
 * Notices that nothing reaches a gate in observe mode: a web server that sends only the gate's own addresses looks like
 * a site that nobody uses. The gate's own endpoints and health checks do not count.
 */
export function createTraffic(clock: Clock) {
  let last = clock();
  let warned = false;
  const isQuiet = () => clock() - last >= QUIET;
  return {
    /** A request for the site has arrived. */
    came(): void {
      last = clock();
    },
    /** The time of the last request, or of the start, if that was ten minutes ago; otherwise undefined. */
    quietSince: () => (isQuiet() ? new Date(last) : undefined),
    /** Logs it, once. Call it periodically. */
    warnIfQuiet(log: Pick<Log, 'warn'>): void {
      if (warned || !isQuiet()) return;
      warned = true;
      log.warn({ since: new Date(last).toISOString() }, NO_TRAFFIC);
    },
  };
}
