import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Finding } from './problems.ts';
import { didYouMean } from './suggest.ts';

/** The files that come with coursegate, found beside the sources wherever those are installed. */
export const SCOPES_FILE = new URL('../../config/scopes.yaml', import.meta.url);
const PROFILES = new URL('../../config/profiles/', import.meta.url);

/** Out: the profiles there are, by the names their files have. One more file is one more profile. */
export function profileNames(folder: URL = PROFILES): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml').toUpperCase())
    .sort();
}

/** Out: the file of a profile that `profileNames` named. */
export function profileFile(name: string): URL {
  return new URL(`${name.toLowerCase()}.yaml`, PROFILES);
}

/**
 * In: what the settings name as their profile. Out: the profile, or the mistake. With a mistake the profile is the first
 * there is, so that the rest of the settings is checked as if it were chosen and its mistakes are found too.
 */
export function chooseProfile(wanted: unknown): { profile: string; findings: readonly Finding[] } {
  const names = profileNames();
  const known = names.find((name) => name === wanted);
  if (known !== undefined) return { profile: known, findings: [] };
  const choices = `one of ${names.join(', ')}`;
  const message =
    wanted === undefined
      ? `is missing (${choices}); COURSEGATE_PROFILE may set it as well`
      : `must be ${choices}${typeof wanted === 'string' ? didYouMean(wanted, names) : ''}`;
  return { profile: names[0] ?? '', findings: [{ path: ['profile'], at: 'value', message }] };
}
