import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { filesBelow, ROOT } from '../../../packaging/files.ts';
import type { BuiltImage, ImageConfiguration } from './engine.ts';

const BUILDER = fileURLToPath(new URL('build-image.ts', import.meta.url));
const INPUTS = ['bin', 'config', 'integrations', 'packaging', 'schema', 'src'];
const FILES = [
  ...['.dockerignore', 'Dockerfile', 'LICENSE', 'package.json', 'package-lock.json'],
  ...['build-image', 'engine'].map((name) => `test/image/support/${name}.ts`),
];

/** The configuration of our image. */
export interface GateConfiguration extends ImageConfiguration {
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Healthcheck: Readonly<Record<string, unknown>> & { readonly Test: readonly string[] };
}

export interface GateImage extends BuiltImage<GateConfiguration> {
  /** The digests of its layers, uncompressed. */
  readonly layers: readonly string[];
  /** The OCI layout that packaging/image/build.ts makes of another bundle of the same sources. */
  readonly layout: string;
}

/** The image of this clone: built once, until something in it changes. A second test file waits for the first one. */
export async function builtImage(): Promise<GateImage> {
  const digest = createHash('sha256');
  const below = INPUTS.flatMap((folder) => filesBelow(join(ROOT, folder)).map((path) => join(folder, path)));
  for (const path of [...below, ...FILES]) digest.update(`${path}\n`).update(readFileSync(join(ROOT, path)));
  const folder = join(ROOT, 'node_modules/.cache/coursegate-image', digest.digest('hex').slice(0, 16));
  const made = join(folder, 'image.json');
  mkdirSync(dirname(folder), { recursive: true });
  const options = { timeout: 15 * 60_000, maxBuffer: 64 * 1024 ** 2 };
  const script = `[ -e "$2" ] || "$0" "$1" "$3"`;
  await promisify(execFile)(
    'flock',
    [join(dirname(folder), 'lock'), 'sh', '-c', script, process.execPath, BUILDER, made, folder],
    options,
  );
  if (!existsSync(made)) throw new Error(`no image in ${folder}`);
  return JSON.parse(readFileSync(made, 'utf8')) as GateImage;
}
