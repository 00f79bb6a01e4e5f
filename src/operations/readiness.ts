import type { Log } from './log.ts';

export interface ReadinessOptions {
  /** Throws when the store cannot be read, or has stopped to take writes until a restart. */
  readonly probeStore: () => Promise<unknown>;
  readonly draining: () => boolean;
  /** Whether the routes are watched and not held to. */
  readonly observing: boolean;
  readonly log: Pick<Log, 'error' | 'warn'>;
}

export interface Readiness {
  readonly ready: boolean;
  /** For who asks. What is wrong with the store stands in the log. */
  readonly text: string;
}

/**
 * Whether the gate may be sent requests: the store does its work, and it is not draining. The upstream is not asked, since
 * a slow backend must not take the sign-in away. The log says why it is not, once, and when it is again.
 */
export function createReadiness({ probeStore, draining, observing, log }: ReadinessOptions): () => Promise<Readiness> {
  let ill = false;
  return async () => {
    if (draining()) return { ready: false, text: 'draining' };
    try {
      await probeStore();
      if (ill) log.warn('ready again: the store does its work');
      ill = false;
      return { ready: true, text: observing ? 'ok, in observe mode: the routes are not enforced' : 'ok' };
    } catch (err) {
      if (!ill) log.error({ err }, 'not ready: the store cannot be used');
      ill = true;
      return { ready: false, text: 'the store cannot be used; the log says why' };
    }
  };
}
