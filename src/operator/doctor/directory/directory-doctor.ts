import { type DoctorOptions, examineSite } from '../doctor.ts';
import type { Report } from '../report.ts';
import { rulesOf } from './checks/checks.ts';
import { LISTING_FINDERS } from './finders.ts';
import type { Listing } from './listing.ts';

/** Holds a deployment against the published rules of a directory of assistants, from outside. */
export function examineListing({ directory, token, own, ...options }: DoctorOptions & Listing): Promise<Report> {
  return examineSite(
    { ...options, insist: true },
    { checks: rulesOf(directory), finders: LISTING_FINDERS, more: { directory, token, own } },
  );
}
