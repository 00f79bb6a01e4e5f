import { isSqlKind } from '../storage/sql/settings.ts';

/** Whether replicas can share a store of this kind. */
export function isSharedStore(kind: unknown): boolean {
  return kind === 'redis' || isSqlKind(kind);
}
