import { once } from '../../http/once.ts';
import { readTexts, textFiles } from '../texts.ts';

/** Where the tables of checks are. Beside each is a YAML file with its texts. */
const FOLDERS = [
  ...['checks', 'backend/checks', 'gateway/checks', 'directory/checks'].map((folder) => `operator/doctor/${folder}`),
  // Those of one way to sign in stand with it.
  'login',
];

/**
 * What people read of each check, by its id. `title`: what is right, as a statement. `reference`: the standard and section
 * behind it. `fix`: what to change if the statement is false.
 */
export const checkTexts = once(() => readTexts(FOLDERS.flatMap(textFiles), ['title', 'reference', 'fix']));

/** The heading of each theme in a report. */
export const themes = once(() => readTexts(['operator/doctor/themes.yaml'], ['title']));
