import type { Config } from './schema.ts';

/**
 * The scopes without those that allow changes (`kind: write`), for lists that apps copy into their first request: the
 * challenge of a refused write names its scope (403 `insufficient_scope`). If all of them allow changes, nothing works
 * without them, and all are returned.
 */
export function withoutWrites(scopes: Iterable<string>, catalogue: Config['scopes']): readonly string[] {
  const all = [...new Set(scopes)];
  const others = all.filter((scope) => catalogue[scope]?.kind !== 'write');
  return others.length > 0 ? others : all;
}
