import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PAGE_PARTS } from '../operator/doctor/support/checks-page.ts';

/** Updates the lists in docs/doctor.md from the checks in src/operator/doctor: `npm run doctor-page`. */
const FILE = fileURLToPath(new URL('../../docs/doctor.md', import.meta.url));
let page = readFileSync(FILE, 'utf8');
for (const [name, text] of Object.entries(PAGE_PARTS)) {
  const between = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*(<!-- /${name} -->)`);
  page = page.replace(between, (_all, from, to) => `${from}\n${text}\n${to}`);
}
writeFileSync(FILE, page);
