import type { ScopeConfig } from '../../config/schema.ts';

/** What an interface calls the member's own record. */
const ACCOUNT = /^(me|my|account|profile|user|member|whoami)$/;

/**
 * The scope of the catalogue whose area is named in a path, by the last name that is one: `/api/v1/courses/*` is
 * `courses`, and so is `/api/course`. In: a pattern, what is done there, the catalogue. Out: the scope, and whether it
 * was found so; else it is that of the member's account, the narrowest that there is for what is nobody else's.
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
