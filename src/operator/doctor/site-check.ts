import { type Check, type CheckTable, checkList } from './check.ts';
import type { Facts } from './facts/facts.ts';
import type { ExaminedSite } from './site.ts';

export type SiteCheck = Check<ExaminedSite, Facts>;

/** Checks of a deployment, which need the same facts. */
export function checks<const N extends keyof Facts>(
  needs: readonly N[],
  table: CheckTable<ExaminedSite & Pick<Facts, N>>,
): readonly SiteCheck[] {
  return checkList<ExaminedSite, Facts, N>({ needs }, table);
}
