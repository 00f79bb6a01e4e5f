import type { LoadedConfig } from '../config/load.ts';
import { counted } from '../http/amounts.ts';
import type { Clock } from '../storage/store.ts';
import type { Log } from './log.ts';

/** The result of one check. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** For the operator; contains nothing that an attacker could use. */
  readonly detail: string;
  /** When it was first seen to fail, in milliseconds since the epoch. */
  readonly since?: number;
}

export interface Health {
  readonly ok: boolean;
  /** Summary of one word or line. */
  readonly text: string;
  readonly checks: readonly Check[];
}

interface Checked {
  /** Writes to the store. Rejects if the store takes no writes: without them, no sign-in is possible. */
  readonly probe: () => Promise<unknown>;
  /** `signing` throws if there is no key to sign with. */
  readonly keyring: { signing(): { readonly kid: string } };
  readonly log: Pick<Log, 'error' | 'warn'>;
  readonly clock: Clock;
}

interface HealthUses {
  readonly draining: () => boolean;
  /** What the parts of the gate mention. */
  readonly mentioned: readonly string[];
}

export type HealthChecks = ReturnType<typeof createHealth>;

/** Seconds since the process started. */
export function uptime(): number {
  return performance.now() / 1000;
}

export function createHealth(
  { probe, keyring, log, clock }: Checked,
  { config, profile, schools }: Pick<LoadedConfig, 'config' | 'profile' | 'schools'>,
  { draining, mentioned }: HealthUses,
) {
  let failingSince: number | undefined;
  const served = schools === undefined ? [`${counted(config.routes.length, 'route')}, profile ${profile}`] : [];

  const store = async (): Promise<Check> => {
    try {
      await probe();
      if (failingSince !== undefined) log.warn('ready again: the store accepts writes');
      failingSince = undefined;
      return { name: 'store', ok: true, detail: config.store.kind };
    } catch (err) {
      if (failingSince === undefined) log.error({ err }, 'not ready: the store cannot be used');
      failingSince ??= clock();
      return { name: 'store', ok: false, detail: 'the store cannot be used; the log says why', since: failingSince };
    }
  };
  const keys = (): Check => {
    try {
      return { name: 'keys', ok: true, detail: `${keyring.signing().kid} signs` };
    } catch (err) {
      log.error({ err }, 'not ready: there is no key to sign with');
      return { name: 'keys', ok: false, detail: 'there is no key to sign with; the log says why' };
    }
  };

  return {
    /** Liveness: whether the process answers at all. */
    live(): Health {
      const detail = `runs for ${Math.floor(uptime())} s`;
      return { ok: true, text: 'ok', checks: [{ name: 'process', ok: true, detail }] };
    },

    /**
     * Readiness: configuration, store and keys are available, and the gate is not draining. Upstreams are not checked,
     * so that a slow backend does not take sign-in down as well. Logs once when the store becomes unavailable, and once
     * when it recovers.
     */
    async ready(): Promise<Health> {
      const leaving = draining();
      const checks: readonly Check[] = [
        {
          name: 'config',
          ok: true,
          detail: [...served, ...mentioned].join(', '),
        },
        await store(),
        keys(),
        { name: 'drain', ok: !leaving, detail: leaving ? 'draining: the gate is shutting down' : 'accepts requests' },
      ];
      const failed = checks.find(({ ok }) => !ok);
      if (leaving) return { ok: false, text: 'draining', checks };
      if (failed !== undefined) return { ok: false, text: failed.detail, checks };
      return { ok: true, text: ['ok', ...mentioned].join(', '), checks };
    },
  };
}

/**
 * One check per line, in the format of kube-apiserver: `[+]store ok: sqlite`. `asked` is the probe's name, such as
 * `readyz`.
 */
export function healthLines({ ok, checks }: Health, asked: string): string {
  const lines = checks.map(
    (check) => `[${check.ok ? '+' : '-'}]${check.name} ${check.ok ? 'ok' : 'failed'}: ${check.detail}`,
  );
  return [...lines, `${asked} check ${ok ? 'passed' : 'failed'}`].join('\n');
}
