import type { ScopeConfig } from '../../config/schema.ts';

/** Common names for the member's own record in an API. */
const ACCOUNT = /^(me|my|account|profile|user|member|whoami)$/;

/**
 * Suggests the scope of the catalogue whose area a path names, by the last segment that names one: both
 * `/api/v1/courses/*` and `/api/course` give `courses`. `fits` is false if none does; the suggestion is then the scope
 * of the member's account, the narrowest one for personal data.
 */
export function suggestScope(
  pattern: string,
  access: 'read' | 'write',
  scopes: Readonly<Record<string, ScopeConfig>>,
): { readonly scope: string; readonly fits: boolean } {
  const words = pattern
    .split('/')
    .map((segment) =>
      segment
        .toLowerCase()
        .replaceAll('-', '_')
        .replace(/\.(json|php)$/, ''),
    )
    .toReversed();
  const of = (area: string) => `${area}:${access}`;
  for (const word of words) {
    const area = [word, `${word}s`].find((name) => name !== '' && Object.hasOwn(scopes, of(name)));
    if (area !== undefined) return { scope: of(area), fits: true };
    if (ACCOUNT.test(word) && Object.hasOwn(scopes, of('account'))) return { scope: of('account'), fits: true };
  }
  const fallback = Object.hasOwn(scopes, of('account'))
    ? of('account')
    : (Object.keys(scopes).find((token) => scopes[token]?.kind === access) ?? 'openid');
  return { scope: fallback, fits: false };
}
