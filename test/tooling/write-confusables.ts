import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Writes src/authorization-server/rules/confusables.json, Unicode's table of confusable characters (UTS #39,
 * confusables.txt), from `src/tables.rs` of the crate `unicode-security` of the unicode-rs project, which is generated
 * from the official file of each Unicode version. To take over a new version:
 *
 *     cargo fetch   # in any crate that depends on unicode-security
 *     node test/tooling/write-confusables.ts ~/.cargo/registry/src/<registry>/unicode-security-<version>/src/tables.rs
 *
 * Each member is a prototype, with all the characters that look like it in one string.
 */
const OUT = fileURLToPath(new URL('../../src/authorization-server/rules/confusables.json', import.meta.url));

const CHARACTER = String.raw`'\\u\{([0-9a-f]+)\}'`;

const [, , path = ''] = process.argv;
const source = readFileSync(path, 'utf8');
const version = /UNICODE_VERSION: \(u64, u64, u64\) = \((\d+), (\d+), (\d+)\)/.exec(source)?.slice(1).join('.');
const start = source.indexOf('const CONFUSABLES: &', source.indexOf('pub mod confusable_detection'));
const body = source.slice(start, source.indexOf('];\n', start));
const characters = (text: string): string =>
  [...text.matchAll(new RegExp(CHARACTER, 'g'))]
    .map(([, hex = '']) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .join('');

const table = new Map<string, string[]>();
let count = 0;
const ENTRY = new RegExp(String.raw`\((?<character>${CHARACTER}),\s*&\[(?<prototype>[^\]]*)\]\)`, 'g');
for (const { groups: { character = '', prototype = '' } = {} } of body.matchAll(ENTRY)) {
  const key = characters(prototype);
  table.set(key, [...(table.get(key) ?? []), characters(character)]);
  count += 1;
}
if (version === undefined || count < 6000) throw new Error(`${path} has ${count} entries of Unicode ${version}`);

const escaped = (json: string): string =>
  // Marks and invisible characters would merge with their neighbours or vanish in an editor.
  json.replace(/[\p{M}\p{C}\p{Z}]/gu, (character) =>
    /[ \n]/.test(character)
      ? character
      : Array.from(
          { length: character.length },
          (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join(''),
  );
const prototypes = Object.fromEntries([...table].map(([prototype, alike]) => [prototype, alike.join('')]));
writeFileSync(OUT, escaped(`${JSON.stringify({ unicode: version, prototypes }, null, 2)}\n`));
process.stdout.write(`${count} characters of Unicode ${version}\n`);
