import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Models } from '@cyclonedx/cyclonedx-library';
import { buildBinary } from './binary/build.ts';
import { buildTime } from './build-time.ts';
import { buildBundle } from './bundle/bundle.ts';
import { buildDebianPackages } from './debian/build.ts';
import { ROOT } from './files.ts';
import { buildImage } from './image/build.ts';
import { imageComponents } from './image-components.ts';
import { buildDist } from './npm/compile.ts';
import { manifestIn, packagesOf, productionPackages } from './packages.ts';
import { binaryComponents } from './runtime-components.ts';
import { sbom } from './sbom.ts';

/** The kinds of artefacts of a release, in the order in which they are built: each but the first needs those before it. */
export const KINDS = ['npm', 'bundle', 'binary', 'debian', 'image'] as const;

export type Kind = (typeof KINDS)[number];

const BUNDLE = join(ROOT, 'build/bundle');
const NAME = `coursegate-${manifestIn().version}`;

/** Builds the artefacts of a kind into a folder, each with its SBOM beside it. */
export const ARTEFACTS: Readonly<Record<Kind, (out: string) => Promise<void>>> = {
  async npm(out) {
    await buildDist();
    execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: ROOT, stdio: ['ignore', 2, 2] });
    writeFileSync(join(out, `${NAME}-npm.cdx.json`), sbom(productionPackages(), buildTime()));
  },
  async bundle(out) {
    await buildBundle({ out: BUNDLE });
    const options = ['--use-compress-program=gzip --no-name --best', '--transform', `s,^,${NAME}-bundle/,`];
    archive(BUNDLE, join(out, `${NAME}-bundle.tar.gz`), options);
    copyFileSync(join(BUNDLE, 'sbom.cdx.json'), join(out, `${NAME}-bundle.cdx.json`));
  },
  async binary(out) {
    copyAll([...(await buildBinary()), join(BUNDLE, 'NOTICE')], out);
    writeFileSync(join(out, `${NAME}-linux.cdx.json`), bundleSbom(binaryComponents()));
  },
  async debian(out) {
    await buildDebianPackages({ out });
  },
  async image(out) {
    const layout = join(ROOT, 'build/image');
    await buildImage({ out: layout, bundle: BUNDLE });
    archive(layout, join(out, `${NAME}-image.tar`), []);
    writeFileSync(join(out, `${NAME}-image.cdx.json`), bundleSbom(imageComponents(layout)));
  },
};

/** The SBOM of what contains the bundle and something beside it. */
function bundleSbom(beside: readonly Models.Component[]): string {
  const bundle = JSON.parse(readFileSync(join(BUNDLE, 'sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly 'bom-ref': string }[];
  };
  const packages = packagesOf(bundle.components.map((one) => `${one['bom-ref']}/package.json`));
  return sbom(packages, buildTime(), beside);
}

function copyAll(files: readonly string[], out: string): void {
  for (const file of files) copyFileSync(file, join(out, basename(file)));
}

/** Writes a folder into an archive that depends on nothing but the names, contents and executable bits of its files. */
function archive(folder: string, file: string, options: readonly string[]): void {
  const same = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const place = ['--create', '--file', file, '--directory', folder, `--mtime=@${buildTime()}`];
  execFileSync('tar', [...place, ...same, ...options, ...readdirSync(folder).sort()]);
}
