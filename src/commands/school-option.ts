import type { LoadedConfig } from '../config/load.ts';
import { misused } from './failure.ts';

/** How a command to type next names the school, if there is one. */
export function schoolWords(school: string | undefined): string {
  return school === undefined ? '' : ` --school ${school}`;
}

/** Throws CommandFailure unless a school is named exactly if the file lists any, and it is one of them. */
export function assertSchool(file: string, { schools }: LoadedConfig, school: string | undefined): void {
  if (schools === undefined) {
    if (school !== undefined) throw misused(`${file} has one school: leave out --school.`);
    return;
  }
  if (school !== undefined && schools.files.has(school)) return;
  const names = [...schools.files.keys()];
  throw misused(
    school === undefined ? `${file} lists schools: choose one with --school.` : `${file} lists no school "${school}".`,
    { reason: `It lists ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}.` },
  );
}
