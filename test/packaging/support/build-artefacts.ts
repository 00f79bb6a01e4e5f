/** `node build-artefacts.ts FOLDER`: builds the bundle and the binaries unless they are there, and removes older ones. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildBinary } from '../../../packaging/binary/build.ts';
import { buildBundle } from '../../../packaging/bundle/bundle.ts';

const [, , folder = ''] = process.argv;
if (!existsSync(folder)) {
  for (const name of readdirSync(dirname(folder))) {
    if (name !== 'lock') rmSync(join(dirname(folder), name), { recursive: true });
  }
  const making = join(dirname(folder), `making-${basename(folder)}`);
  mkdirSync(making);
  await buildBundle({ out: join(making, 'bundle') });
  await buildBinary({ bundle: join(making, 'bundle'), out: join(making, 'binary') });
  renameSync(making, folder);
}
