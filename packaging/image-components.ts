import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Enums, Models } from '@cyclonedx/cyclonedx-library';
import { nodeComponent } from './runtime-components.ts';

/** What an image for this processor contains besides the bundle: Node, and the Debian packages that Node needs. */
export function imageComponents(layout: string): readonly Models.Component[] {
  const root = mkdtempSync(join(tmpdir(), 'coursegate-image-'));
  try {
    for (const layer of layersOf(layout)) {
      execFileSync('tar', ['--extract', '--no-same-owner', '--file', layer, '--directory', root]);
    }
    const node = join(root, 'usr/local/bin/node');
    const versions = execFileSync(node, ['--print', 'JSON.stringify(process.versions)'], { encoding: 'utf8' });
    return [nodeComponent(JSON.parse(versions)), ...debianComponents(join(root, 'var/lib/dpkg/status.d'))];
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** The files of the layers of the only image in an OCI layout, lowest first. */
function layersOf(layout: string): readonly string[] {
  const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const [image] = read(join(layout, 'index.json')).manifests as readonly { readonly digest: string }[];
  if (image === undefined) throw new Error(`${layout} has no image`);
  const { layers } = read(blob(image.digest)) as { readonly layers: readonly { readonly digest: string }[] };
  return layers.map(({ digest }) => blob(digest));
}

/** Debian packages from files with their records (deb-control), one for each. */
function debianComponents(folder: string): readonly Models.Component[] {
  return readdirSync(folder).map((name) => {
    const record = readFileSync(join(folder, name), 'utf8');
    const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(record)?.[1] ?? '';
    const version = field('Version');
    if (version === '') throw new Error(`the image has no version of ${name}`);
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${field('Architecture')}`;
    return new Models.Component(Enums.ComponentType.Library, name, { version, purl, bomRef: purl });
  });
}
