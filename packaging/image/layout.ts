import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Descriptor {
  digest: string;
  size: number;
}

/**
 * Completes the OCI image layout in a folder, which has one image. Buildah leaves out the health check, which is no part of
 * the specification but read by Docker, and names in the history the image of each step, which differs with each build.
 */
export function completeLayout(folder: string, healthcheck: unknown): void {
  const path = ({ digest }: Descriptor) => join(folder, 'blobs', ...digest.split(':'));
  const change = (descriptor: Descriptor, edit: (content: Record<string, unknown>) => void) => {
    const content = JSON.parse(readFileSync(path(descriptor), 'utf8')) as Record<string, unknown>;
    rmSync(path(descriptor));
    edit(content);
    const text = JSON.stringify(content);
    descriptor.digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    descriptor.size = Buffer.byteLength(text);
    writeFileSync(path(descriptor), text);
  };
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { manifests: [Descriptor] };
  change(index.manifests[0], (manifest) => {
    change(manifest.config as Descriptor, (image) => {
      Object.assign(image.config as object, { Healthcheck: healthcheck });
      for (const step of image.history as { comment?: string }[]) delete step.comment;
    });
  });
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
}
