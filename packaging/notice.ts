import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './files.ts';
import type { InstalledPackage } from './packages.ts';

/** Licences that allow a package inside coursegate, which is MIT itself. They ask for their text to go along. */
const ALLOWED = new Set(['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']);

/** Packages under the MIT licence whose archive has no file with its text: the copyright line of their README or repository. */
const WITHOUT_TEXT: Readonly<Record<string, string>> = {
  '@graphql-tools/merge': 'Copyright (c) 2020 The Guild, Inc.',
  '@graphql-tools/utils': 'Copyright (c) 2020 The Guild, Inc.',
  '@whatwg-node/promise-helpers': 'Copyright (c) 2023 Arda TANRIKULU',
  'koa-compose': 'Copyright (c) 2013 TJ Holowaychuk tj@apex.sh',
  'pg-types': 'Copyright (c) 2014 Brian M. Carlson',
  pgpass: 'Copyright (c) 2013-2016 Hannes Hörl',
};

const TEXT_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const RULE = '-'.repeat(80);

/**
 * The text of NOTICE: each bundled package with its licence. Packages with the same text share it.
 *
 * @throws If a package has no licence text, or a licence that is not allowed.
 */
export function notice(packages: readonly InstalledPackage[]): string {
  const byText = new Map<string, string[]>();
  for (const one of packages) {
    const text = licenceText(one);
    const { name, version, license } = one.manifest;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => `${RULE}\n${[...new Set(names)].join('\n')}\n\n${text}\n`);
  return `This program contains the following packages.\n\n${parts.join('\n')}`;
}

function licenceText({ folder, manifest: { name, version, license = 'none' } }: InstalledPackage): string {
  if (!ALLOWED.has(license)) {
    throw new Error(`${name} ${version} has the licence ${license}, which packaging/notice.ts does not allow`);
  }
  const files = readdirSync(join(ROOT, folder)).filter((file) => TEXT_FILE.test(file));
  const texts = files.sort().map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
  const copyright = WITHOUT_TEXT[name];
  if (texts.length === 0 && license === 'MIT' && copyright !== undefined) texts.push(mitLicence(copyright));
  const text = texts.map((one) => one.replaceAll('\r\n', '\n').trim()).join('\n\n');
  if (text === '')
    throw new Error(`${name} ${version} has no licence text: add its copyright line to packaging/notice.ts`);
  return text;
}

/** The text of our own licence, which is MIT, with another copyright line. */
function mitLicence(copyright: string): string {
  return readFileSync(join(ROOT, 'LICENSE'), 'utf8').replace(/^Copyright .*$/m, copyright);
}
