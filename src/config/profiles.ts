import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Finding } from './problems.ts';
import { didYouMean } from './suggest.ts';

/** The bundled files, found relative to the sources. */
export const SCOPES_FILE = new URL('../../config/scopes.yaml', import.meta.url);
const PROFILES = new URL('../../config/profiles/', import.meta.url);

/** The names of the bundled profiles, one for each file in the folder. */
export function profileNames(folder: URL = PROFILES): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml').toUpperCase())
    .sort();
}

/** The file of a profile from `profileNames`. */
export function profileFile(name: string): URL {
  return new URL(`${name.toLowerCase()}.yaml`, PROFILES);
}

/**
 * Resolves the `profile` setting. If it is missing or unknown, falls back to the first profile, so that the other
 * settings are still checked and their mistakes reported in the same run.
 */
export function chooseProfile(wanted: unknown): { profile: string; findings: readonly Finding[] } {
  const names = profileNames();
  const known = names.find((name) => name === wanted);
  if (known !== undefined) return { profile: known, findings: [] };
  const choices = `one of ${names.join(', ')}`;
  const message =
    wanted === undefined
      ? `is missing (${choices}); COURSEGATE_PROFILE can set it too`
      : `must be ${choices}${typeof wanted === 'string' ? didYouMean(wanted, names) : ''}`;
  return { profile: names[0] ?? '', findings: [{ path: ['profile'], at: 'value', message }] };
}
