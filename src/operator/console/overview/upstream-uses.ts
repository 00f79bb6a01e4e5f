import type { LoadedConfig } from '../../../config/load.ts';

/** What an upstream is for: what its outage takes away. */
export interface UpstreamUses {
  readonly signIn: boolean;
  readonly site: boolean;
  /** Routes, fields of the Account API or tools. */
  readonly apps: boolean;
  readonly events: boolean;
}

export function upstreamUses({ config, accountFiles }: LoadedConfig, name: string): UpstreamUses {
  const { login, site, routes, mcp, events } = config;
  return {
    signIn: 'upstream' in login && login.upstream === name,
    site: site?.upstream === name,
    apps:
      routes.some(({ upstream }) => upstream === name) ||
      mcp?.tools.some(({ get }) => get?.upstream === name) === true ||
      // As the mappings of the Account API name it.
      accountFiles?.mappings.some(({ text }) => text.includes(`"${name}"`)) === true,
    events: events?.upstream === name,
  };
}
