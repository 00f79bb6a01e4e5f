import { chmodSync, copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDebianPackages } from '../../../packaging/debian/build.ts';
import { builtImage } from '../../image/support/built-image.ts';
import { builtArtefacts } from './artefacts.ts';
import { pack } from './installed.ts';
import { type SchoolHost, startSchoolHost } from './school-host.ts';

/** The ways of docs/install.md to get the gate. */
export const WAYS = ['deb', 'binary', 'npm', 'image'] as const;
export type Way = (typeof WAYS)[number];

/** The name of the packed npm package in the home of the administrator. */
const TARBALL = 'coursegate-0.1.0.tgz';

/** Starts a school's machine where the administrator has what this way downloads from a release. */
export async function startWithDownload(way: Way): Promise<SchoolHost> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-downloads-'));
  try {
    if (way === 'image') return await startWithImage(folder);
    return await startSchoolHost({ files: [await DOWNLOADS[way](folder)] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each makes the file in a folder. */
const DOWNLOADS: Readonly<Record<Exclude<Way, 'image'>, (folder: string) => Promise<string>>> = {
  async deb(out) {
    const { bundle, binaries } = await builtArtefacts();
    const [file = ''] = await buildDebianPackages({ out, architectures: ['x64'], bundle, binaries });
    return file;
  },
  binary: async () => join((await builtArtefacts()).binaries, 'coursegate-linux-x64'),
  async npm(out) {
    const { tarball } = await pack();
    const file = join(out, TARBALL);
    renameSync(tarball, file);
    rmSync(dirname(tarball), { recursive: true });
    return file;
  },
};

async function startWithImage(folder: string): Promise<SchoolHost> {
  const { root, layout } = await builtImage();
  // `docker load` of the stand-in looks only whether the file is there.
  const file = join(folder, 'coursegate-0.1.0-image.tar');
  copyFileSync(join(layout, 'index.json'), file);
  const host = await startSchoolHost({ files: [file], mounts: { '/srv/image': root } });
  const docker = join(host.path, 'usr/local/bin/docker');
  copyFileSync(fileURLToPath(new URL('docker.sh', import.meta.url)), docker);
  chmodSync(docker, 0o755);
  return host;
}
