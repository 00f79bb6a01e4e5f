import type { ScopeConfig } from '../config/schema.ts';
import type { Scope } from '../oauth/scope.ts';
import type { Destination, ScopeGroup } from './pages/consent.ts';

const LEGENDS: Readonly<Record<ScopeConfig['kind'], string>> = {
  identity: 'Know who you are',
  read: 'See',
  write: 'Change',
};

/** The requested scopes as sentences, grouped; `openid` has no sentence of its own. */
export function scopeGroups(requested: Scope, catalogue: Readonly<Record<string, ScopeConfig>>): ScopeGroup[] {
  return (['identity', 'read', 'write'] as const)
    .map((kind) => ({
      legend: LEGENDS[kind],
      scopes: [...requested]
        .filter((token) => token !== 'openid' && catalogue[token]?.kind === kind)
        .map((token) => ({ token, title: catalogue[token]?.title ?? token, checked: true })),
    }))
    .filter((group) => group.scopes.length > 0);
}

/** Where a redirect URI sends the member, in the terms they know. International host names stay in punycode. */
export function destinationOf(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { kind: 'app', scheme: url.protocol };
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    ? { kind: 'computer' }
    : { kind: 'host', host: url.host };
}
