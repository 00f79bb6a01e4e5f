import { basename, join } from 'node:path';
import { installedFiles, installedPath } from '../installation.ts';
import type { UntracedProblem } from './problems.ts';
import { didYouMean } from './suggest.ts';

/** The bundled catalogue of scopes. */
export const SCOPES_FILE = installedPath('config/scopes.yaml');
const PROFILES = installedPath('config/profiles');

/** The names of the bundled profiles, one for each file in the folder. */
export function profileNames(folder = PROFILES): readonly string[] {
  return installedFiles(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml').toUpperCase())
    .sort();
}

/** The file of a profile from `profileNames`. */
export function profileFile(name: string): string {
  return join(PROFILES, `${name.toLowerCase()}.yaml`);
}

/**
 * Resolves the `profile` setting. If it is missing or unknown, falls back to the first profile, so that the other
 * settings are still checked and their mistakes reported in the same run.
 */
export function chooseProfile(wanted: unknown): { profile: string; findings: readonly UntracedProblem[] } {
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
