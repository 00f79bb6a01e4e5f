import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checksPage } from '../tools/doctor/support/checks-page.ts';

/** Updates the list in docs/doctor.md from src/tools/doctor/checks: `npm run doctor-page`. */
const FILE = fileURLToPath(new URL('../../docs/doctor.md', import.meta.url));
const page = readFileSync(FILE, 'utf8');
writeFileSync(
  FILE,
  page.replace(/(<!-- checks -->\n)[\s\S]*(<!-- \/checks -->)/, (_all, from, to) => `${from}\n${checksPage()}\n${to}`),
);
