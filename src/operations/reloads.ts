import { type ConfigError, formatProblem } from '../config/problems.ts';
import type { Clock } from '../storage/store.ts';
import type { Audit } from './audit.ts';
import type { Log } from './log.ts';

/** Result of the last reload of the configuration. */
export interface ReloadState {
  /** Unix seconds at which the files were last refused; undefined if they have been applied since. */
  readonly refusedAt?: number;
  /** Unix seconds at which a configuration was last applied, including at startup. */
  readonly takenAt: number;
  /**
   * Depends only on the content of the configuration files: equal at every replica that runs the same configuration.
   */
  readonly fingerprint: string;
}

/** Reports each reload to the log, the audit and the metrics. */
export type Reloads = ReturnType<typeof createReloads>;

interface ReloadsUses {
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Fingerprint of the configuration at startup. */
  readonly fingerprint: string;
}

/** Changed keys that are listed in the log. */
const MOST_LISTED = 50;

export function createReloads({ log, audit, clock, fingerprint: first }: ReloadsUses) {
  const now = () => Math.floor(clock() / 1000);
  let state: ReloadState = { takenAt: now(), fingerprint: first };
  const record = (outcome: 'success' | 'failure', reason: string | undefined) =>
    audit({ action: 'config_reloaded', outcome, reason, by: 'operator' });

  return {
    state: () => state,

    /** A reload succeeded. `keys` are the configuration keys that changed; empty if none did. */
    taken(keys: readonly string[], fingerprint: string, milliseconds: number): void {
      state = { takenAt: now(), fingerprint };
      const details = { config: fingerprint, milliseconds: Math.round(milliseconds) };
      if (keys.length === 0) {
        log.info(details, 'the configuration was read again: nothing is different');
        return;
      }
      const more = keys.length > MOST_LISTED ? { and_more: keys.length - MOST_LISTED } : {};
      log.info({ ...details, changed: keys.slice(0, MOST_LISTED), ...more }, 'the configuration was taken over');
      record('success', undefined);
    },

    /** A reload failed, and the previous configuration stays in use. */
    refused(why: ConfigError | Error): void {
      state = { ...state, refusedAt: now() };
      const kept = 'the configuration was not taken over: the one before serves on';
      const problems =
        'problems' in why && why.problems.map((problem) => formatProblem({ ...problem, frame: undefined }));
      log.error(problems === false ? { err: why } : { problems }, kept);
      record('failure', problems === false ? 'failed' : 'invalid_configuration');
    },
  };
}
