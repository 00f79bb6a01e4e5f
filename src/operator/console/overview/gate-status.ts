import type { Keyring } from '../../../authorization-server/keyring.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import type { EventsState } from '../../../events/state.ts';
import type { Health } from '../../../operations/health.ts';
import type { ReloadState } from '../../../operations/reloads.ts';
import type { UpstreamState } from '../../../operations/state-metrics.ts';
import type { UnusedApp } from '../../../operations/unused-tokens.ts';

export interface UpstreamStatus extends UpstreamState {
  readonly origin: string;
  readonly uses: ReturnType<typeof upstreamUses>;
  /** Requests in a row without a response, and since when, in milliseconds since the epoch. */
  readonly outage: { readonly failures: number; readonly since: number } | undefined;
}

/** The gate at one moment. */
export interface GateStatus {
  readonly health: Health;
  readonly store: {
    /** As named in the configuration. */
    readonly kind: string;
    /** On disk; undefined when the store is not a file of the gate. */
    readonly bytes: number | undefined;
  };
  readonly keys: ReturnType<Keyring['list']>;
  readonly upstreams: readonly UpstreamStatus[];
  readonly reload: ReloadState;
  readonly config: { readonly profile: string; readonly routes: number };
  /** Whether routes are observed instead of enforced. */
  readonly observing: boolean;
  /** Apps whose last connections all stayed unused. */
  readonly unusedApps: readonly UnusedApp[];
  /** Undefined when the backend receives no events, or the store cannot say. */
  readonly events: EventsState | undefined;
  /** Seconds since the process started. */
  readonly uptime: number;
}

/** What an upstream is for: what its outage takes away. */
export function upstreamUses({ config, accountFiles }: LoadedConfig, name: string) {
  const { login, site, routes, mcp, events } = config;
  return {
    signIn: 'upstream' in login && login.upstream === name,
    site: site?.upstream === name,
    /** Routes, fields of the Account API or tools. */
    apps:
      routes.some(({ upstream }) => upstream === name) ||
      mcp?.tools.some(({ get }) => get?.upstream === name) === true ||
      // As the mappings of the Account API name it.
      accountFiles?.mappings.some(({ text }) => text.includes(`"${name}"`)) === true,
    events: events?.upstream === name,
  };
}
