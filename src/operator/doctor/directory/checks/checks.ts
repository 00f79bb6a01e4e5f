import type { Check } from '../../check.ts';
import { CHECKS } from '../../checks/checks.ts';
import type { DirectoryName, ExaminedListing, ListingFacts } from '../listing.ts';
import { CONSENT } from './consent.ts';
import { LISTING } from './listing.ts';
import { ROW_CHECKS } from './rows.ts';
import rules from './rules.json' with { type: 'json' };
import { TOOL } from './tool.ts';

/** The checks that only directories make, in the order of the report. */
export const LISTING_CHECKS = [...TOOL, ...ROW_CHECKS, ...CONSENT, ...LISTING];

const REPEATED = new Set(
  Object.entries(rules.repeated).flatMap(([theme, names]) => names.map((name) => `${theme}.${name}`)),
);
const ONLY: Readonly<Record<string, string | undefined>> = rules.only;

/** Every rule of a directory: the checks of a deployment that its rules repeat, and its own. */
export function rulesOf(directory: DirectoryName): readonly Check<ExaminedListing, ListingFacts>[] {
  const own = LISTING_CHECKS.filter(({ id }) => (ONLY[id] ?? directory) === directory);
  return [...CHECKS.filter(({ id }) => REPEATED.has(id)), ...own];
}
