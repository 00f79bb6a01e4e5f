import type { Log } from './log.ts';

/** One thing that was looked at. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** In words for an operator; nothing that a stranger could use. */
  readonly detail: string;
}

export interface Health {
  readonly ok: boolean;
  /** All there is to say in a word or a line. */
  readonly text: string;
  readonly checks: readonly Check[];
}

export interface HealthOptions {
  /** Writes to the store. Throws when it takes no writes: a gate that cannot write can sign nobody in. */
  readonly probeStore: () => Promise<unknown>;
  /** The kind of store, by its name in the configuration. */
  readonly store: string;
  /** Out: which key signs. Throws when none can. */
  readonly signing: () => { readonly kid: string };
  /** What is served: how many routes, under which profile. */
  readonly config: { readonly routes: number; readonly profile: string };
  readonly draining: () => boolean;
  /** Whether the routes are watched and not held to. */
  readonly observing: boolean;
  /** Seconds that the process runs. */
  readonly uptime: () => number;
  readonly log: Pick<Log, 'error' | 'warn'>;
}

export interface HealthChecks {
  /** Whether the process works at all: it answers. */
  live(): Health;
  /**
   * Whether the gate may be sent requests: configuration, store and keys are there, and it is not draining. The upstream is
   * not asked, since a slow backend must not take the sign-in away. The log says why it is not, once, and when it is again.
   */
  ready(): Promise<Health>;
}

const OBSERVING = 'in observe mode: the routes are not enforced';

export function createHealth(options: HealthOptions): HealthChecks {
  const { probeStore, draining, observing, log } = options;
  let ill = false;

  const store = async (): Promise<Check> => {
    try {
      await probeStore();
      if (ill) log.warn('ready again: the store does its work');
      ill = false;
      return { name: 'store', ok: true, detail: options.store };
    } catch (err) {
      if (!ill) log.error({ err }, 'not ready: the store cannot be used');
      ill = true;
      return { name: 'store', ok: false, detail: 'the store cannot be used; the log says why' };
    }
  };
  const keys = (): Check => {
    try {
      return { name: 'keys', ok: true, detail: `${options.signing().kid} signs` };
    } catch (err) {
      log.error({ err }, 'not ready: there is no key to sign with');
      return { name: 'keys', ok: false, detail: 'there is no key to sign with; the log says why' };
    }
  };

  return {
    live() {
      const detail = `runs for ${Math.floor(options.uptime())} s`;
      return { ok: true, text: 'ok', checks: [{ name: 'process', ok: true, detail }] };
    },

    async ready() {
      const { routes, profile } = options.config;
      const leaving = draining();
      const checks: readonly Check[] = [
        {
          name: 'config',
          ok: true,
          detail: `${routes} routes, profile ${profile}${observing ? `, ${OBSERVING}` : ''}`,
        },
        await store(),
        keys(),
        { name: 'drain', ok: !leaving, detail: leaving ? 'draining: the gate is on its way out' : 'takes requests' },
      ];
      const failed = checks.find(({ ok }) => !ok);
      if (leaving) return { ok: false, text: 'draining', checks };
      if (failed !== undefined) return { ok: false, text: failed.detail, checks };
      return { ok: true, text: observing ? `ok, ${OBSERVING}` : 'ok', checks };
    },
  };
}

/** Each check on a line, as kube-apiserver lists them: `[+]store ok: sqlite`. In: what was asked, such as `readyz`. */
export function healthLines({ ok, checks }: Health, asked: string): string {
  const lines = checks.map(
    (check) => `[${check.ok ? '+' : '-'}]${check.name} ${check.ok ? 'ok' : 'failed'}: ${check.detail}`,
  );
  return [...lines, `${asked} check ${ok ? 'passed' : 'failed'}`].join('\n');
}
