/** Builds the image for the tests: `node build-image.ts FOLDER`, which writes image.json there last. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildBundle } from '../../../packaging/bundle/bundle.ts';
import { ROOT } from '../../../packaging/files.ts';
import { buildImage } from '../../../packaging/image/build.ts';
import type { GateConfiguration, GateImage } from './built-image.ts';
import { startEngine } from './engine.ts';

/** What a release sets: the layers of the two builds below are compared. */
const TIME = '1750000000';
const ARGUMENTS = {
  SOURCE_DATE_EPOCH: TIME,
  VERSION: '9.8.7',
  REVISION: 'abcdef0',
  SOURCE: 'https://school.example/coursegate',
};

const [folder = ''] = process.argv.slice(2);
for (const earlier of readdirSync(dirname(folder), { withFileTypes: true })) {
  if (earlier.isDirectory()) rmSync(join(earlier.parentPath, earlier.name), { recursive: true });
}
mkdirSync(folder);
const engine = await startEngine();
try {
  const args = Object.entries(ARGUMENTS).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const name = await engine.build(ROOT, ['--timestamp', TIME, ...args]);
  const { configuration, layers, ...built } = await engine.container<GateConfiguration>(name);
  const root = join(folder, 'root');
  execFileSync('cp', ['-a', built.root, root]);

  Object.assign(process.env, engine.environment, { SOURCE_DATE_EPOCH: TIME });
  const [bundle, layout] = [join(folder, 'bundle'), join(folder, 'layout')];
  await buildBundle({ out: bundle });
  await buildImage({ out: layout, bundle });
  const image: GateImage = { configuration, root, layers, layout };
  writeFileSync(join(folder, 'image.json'), JSON.stringify(image));
} finally {
  await engine.remove();
}
