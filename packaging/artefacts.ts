import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ARTEFACTS, KINDS, type Kind } from './artefact-kinds.ts';
import { buildTime } from './build-time.ts';
import { ROOT } from './files.ts';
import { manifestIn } from './packages.ts';
import { OWN_BUILDER, provenance } from './provenance.ts';

/*
 * node packaging/artefacts.ts --out DIR [--only npm,bundle] [--tag TAG] [--builder URI]
 * Builds the artefacts of this folder as it is, and writes their SBOMs, provenance and SHA256SUMS. `npm run release` calls
 * it in a clean clone.
 */

const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string' }, tag: { type: 'string' }, builder: { type: 'string' } },
});
const { version } = manifestIn();

function kindsFrom(only: string | undefined): readonly Kind[] {
  const wanted = only === undefined ? KINDS : only.split(',');
  const unknown = wanted.filter((one) => !Object.hasOwn(ARTEFACTS, one));
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(',')}: the kinds are ${KINDS.join(', ')}`);
  return KINDS.filter((kind) => wanted.includes(kind));
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const said = (program: string, ...words: readonly string[]) =>
  execFileSync(program, words, { cwd: ROOT, encoding: 'utf8' }).trim();

async function main(): Promise<void> {
  if (values.out === undefined) throw new Error('--out DIR is missing');
  const [out, kinds] = [resolve(values.out), kindsFrom(values.only)];
  process.env.SOURCE_DATE_EPOCH = String(buildTime());
  mkdirSync(out, { recursive: true });
  for (const kind of kinds) await ARTEFACTS[kind](out);

  const digests = () =>
    readdirSync(out)
      .sort()
      .map((name) => ({ name, sha256: sha256(join(out, name)) }));
  const statement = provenance(digests(), {
    commit: said('git', 'rev-parse', 'HEAD'),
    tag: values.tag ?? `v${version}`,
    kinds,
    builder: values.builder ?? OWN_BUILDER,
    time: buildTime(),
    tools: { node: process.versions.node, npm: said('npm', '--version') },
  });
  writeFileSync(join(out, `coursegate-${version}.provenance.json`), statement);
  writeFileSync(
    join(out, 'SHA256SUMS'),
    digests()
      .map((one) => `${one.sha256}  ${one.name}\n`)
      .join(''),
  );
}

await main();
