import { type ConfigError, formatProblem } from '../config/problems.ts';
import type { Audit } from './audit.ts';
import type { Log } from './log.ts';

/** How it went when the configuration was last asked to be another. */
export interface ReloadState {
  readonly successful: boolean;
  /** Unix seconds: when one was last taken over, that of the start among them. */
  readonly takenAt: number;
  /** Tells configurations apart by what their files hold, and is the same for the same at every replica. */
  readonly fingerprint: string;
}

/** Tells of each reload: in the log, in the audit, and to the metrics. */
export interface Reloads {
  readonly state: () => ReloadState;
  /** In: the keys that are different; none: nothing was. */
  taken(keys: readonly string[], fingerprint: string, milliseconds: number): void;
  /** The one before serves on. In: what was wrong with the new one, or what went wrong. */
  refused(why: ConfigError | Error): void;
}

export interface ReloadsOptions {
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly audit: Audit;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Of the configuration that the gate starts with. */
  readonly fingerprint: string;
}

/** Keys that are told one by one. */
const MOST_TOLD = 50;

export function createReloads({ log, audit, clock, fingerprint: first }: ReloadsOptions): Reloads {
  const now = () => Math.floor(clock() / 1000);
  let state: ReloadState = { successful: true, takenAt: now(), fingerprint: first };
  const record = (outcome: 'success' | 'failure', reason: string | undefined) =>
    audit({
      action: 'config_reloaded',
      outcome,
      reason,
      by: 'operator',
      clientId: undefined,
      grantId: undefined,
      member: undefined,
      address: undefined,
      requestId: undefined,
    });

  return {
    state: () => state,

    taken(keys, fingerprint, milliseconds) {
      state = { successful: true, takenAt: now(), fingerprint };
      const told = { config: fingerprint, milliseconds: Math.round(milliseconds) };
      if (keys.length === 0) {
        log.info(told, 'the configuration was read again: nothing is different');
        return;
      }
      const more = keys.length > MOST_TOLD ? { and_more: keys.length - MOST_TOLD } : {};
      log.info({ ...told, changed: keys.slice(0, MOST_TOLD), ...more }, 'the configuration was taken over');
      record('success', undefined);
    },

    refused(why) {
      state = { ...state, successful: false };
      const kept = 'the configuration was not taken over: the one before serves on';
      if ('problems' in why) {
        const problems = why.problems.map((problem) => formatProblem({ ...problem, frame: undefined }));
        log.error({ problems }, kept);
        record('failure', 'invalid_configuration');
      } else {
        log.error({ err: why }, kept);
        record('failure', 'failed');
      }
    },
  };
}
