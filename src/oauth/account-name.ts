/**
 * Normalises a typed account name for look-ups and attempt limits. Phone keyboards add a capital and a trailing space,
 * and different spellings of a name must share one limit. Never use it for a member id.
 */
export function foldAccountName(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}
