import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTime } from './build-time.ts';
import { buildBundle } from './bundle/bundle.ts';
import { ROOT } from './files.ts';
import { buildDist } from './npm/compile.ts';
import { manifestIn, productionPackages } from './packages.ts';
import { sbom } from './sbom.ts';

/** The kinds of artefacts of a release, in the order in which they are built: each may use those before it. */
export const KINDS = ['npm', 'bundle'] as const;

export type Kind = (typeof KINDS)[number];

const NAME = `coursegate-${manifestIn().version}`;

/** Builds the artefacts of a kind into a folder, each with its SBOM beside it. */
export const ARTEFACTS: Readonly<Record<Kind, (out: string) => Promise<void>>> = {
  async npm(out) {
    await buildDist();
    execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: ROOT, stdio: ['ignore', 2, 2] });
    writeFileSync(join(out, `${NAME}-npm.cdx.json`), sbom(productionPackages(), buildTime()));
  },
  async bundle(out) {
    const folder = join(ROOT, 'build/bundle');
    await buildBundle({ out: folder });
    archive(folder, join(out, `${NAME}-bundle.tar.gz`), `${NAME}-bundle`);
    copyFileSync(join(folder, 'sbom.cdx.json'), join(out, `${NAME}-bundle.cdx.json`));
  },
};

/** Writes a folder into a `.tar.gz` that depends on nothing but the names, contents and executable bits of its files. */
function archive(folder: string, file: string, name: string): void {
  execFileSync('tar', [
    ...['--create', '--file', file, '--use-compress-program=gzip --no-name --best', '--format=ustar', '--sort=name'],
    ...['--owner=0', '--group=0', '--numeric-owner', `--mtime=@${buildTime()}`, '--mode=u=rwX,go=rX'],
    ...['--directory', folder, '--transform', `s,^\\.,${name},`, '.'],
  ]);
}
