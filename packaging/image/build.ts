import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildTime } from '../build-time.ts';
import { filesBelow, ROOT } from '../files.ts';
import { completeLayout } from './layout.ts';

/** The processor of this machine, as images name it. */
const HERE = process.arch === 'x64' ? 'amd64' : process.arch;

export interface ImageOptions {
  /** The folder of the OCI image layout. What is in it is deleted. Default: build/image. */
  readonly out?: string;
  /** The folder of the bundle. Default: build/bundle. */
  readonly bundle?: string;
  /** Such as `linux/arm64`. Default: that of this machine. */
  readonly platform?: string;
}

/**
 * Builds the image of the Dockerfile from a finished bundle, with buildah, as an OCI image layout. Buildah's own variables
 * say where it stores layers and how it runs commands. The same bundle, time of the build and base give the same digests.
 * Returns the paths of the files. Throws without a bundle or buildah.
 */
export async function buildImage({
  out = join(ROOT, 'build/image'),
  bundle = join(ROOT, 'build/bundle'),
  platform,
}: ImageOptions = {}): Promise<readonly string[]> {
  if (!existsSync(join(bundle, 'lib'))) throw new Error(`no bundle in ${bundle}: npm run build`);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const output = await buildah(
    ...['build-using-dockerfile', '--quiet', '--format=docker', '--layers', '--identity-label=false'],
    ...['--timestamp', String(buildTime()), '--build-context', `bundle=${bundle}`],
    // Debian 12's buildah does not set BUILDPLATFORM.
    ...(platform === undefined ? [] : ['--platform', platform, '--build-arg', `BUILDPLATFORM=linux/${HERE}`]),
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`, ROOT],
  );
  const image = output.split('\n').at(-1) ?? '';
  const { Docker } = JSON.parse(await buildah('inspect', '--type=image', image)) as {
    Docker: { config: { Healthcheck: unknown } };
  };
  rmSync(out, { recursive: true, force: true });
  await buildah('push', '--quiet', '--format=oci', image, `oci:${out}:coursegate:${version}`);
  completeLayout(out, Docker.config.Healthcheck);
  return filesBelow(out).map((path) => join(out, path));
}

async function buildah(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('buildah', args, { maxBuffer: 64 * 1024 ** 2 });
  return stdout.trim();
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' }, platform: { type: 'string' } } });
  for (const file of await buildImage(values)) console.log(relative(process.cwd(), file));
}
