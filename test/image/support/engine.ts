import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SUITE = 'bookworm';
/** The base image of the Dockerfile. */
const BASE = `docker.io/library/node:24-${SUITE}-slim`;
const BUILD_TIME = 15 * 60_000;

const there = (program: string) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

/**
 * Whether an image can be built here. Without the programs, its tests are skipped by name, with instructions. In CI they
 * fail instead, since a green run must mean that they ran. Without permission to mount, they are skipped, also in CI.
 */
export function enginePresent(): boolean {
  const missing = ['buildah', 'mmdebstrap'].filter((program) => !there(program));
  if (missing.length > 0) {
    const advice = `no ${missing.join(', ')} found: the image is built with them (apt-get install buildah mmdebstrap)`;
    if (process.env.CI) throw new Error(advice);
    console.warn(`SKIPPED: ${advice}`);
    return false;
  }
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('SKIPPED: the tests of the image need the right to mount (root): sudo npm run test:image\n');
    return false;
  }
}

/** The part of an image's configuration that the tests use. */
interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface BuiltImage {
  readonly configuration: ImageConfiguration;
  /** The folder with its files. */
  readonly root: string;
  remove(): Promise<void>;
}

/**
 * Builds the project's Dockerfile without an engine, with buildah and chroot isolation. A Debian made by mmdebstrap and the
 * Node of this checkout replace the official Node image. npm's cache is used.
 */
export async function buildImage(args: Readonly<Record<string, string>>): Promise<BuiltImage> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-image-'));
  const driver = canOverlay(folder) ? 'overlay' : 'vfs';
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', driver];
  const buildah = async (command: string, ...more: readonly string[]): Promise<string> => {
    const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
    const options = { env, maxBuffer: 64 * 1024 ** 2, timeout: BUILD_TIME };
    return (await run('buildah', [...storage, command, ...more], options)).stdout.trim();
  };

  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  mkdirSync(cache, { recursive: true });
  await commitBase(buildah, folder);
  const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const place = ['--volume', `${cache}:${NPM_CACHE}`, '--tag', 'coursegate:test', ROOT];
  await buildah('build-using-dockerfile', '--format', 'docker', '--pull-never', ...buildArgs, ...place);
  const container = await buildah('from', '--pull-never', 'localhost/coursegate:test');
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/coursegate:test')) as {
    Docker: { config: ImageConfiguration };
  };
  return {
    configuration: inspected.Docker.config,
    root: await buildah('mount', container),
    async remove() {
      await buildah('umount', container);
      await run('rm', ['-rf', folder], { timeout: BUILD_TIME });
    },
  };
}

/** Whether overlay mounts work. Otherwise each layer is a copy of all layers below it. */
function canOverlay(folder: string): boolean {
  const [lower, upper, work, over] = ['lower', 'upper', 'work', 'over'].map((name) => join(folder, 'try', name));
  for (const path of [lower, upper, work, over]) mkdirSync(path ?? '', { recursive: true });
  const tried = `mount -t overlay overlay -o lowerdir=${lower},upperdir=${upper},workdir=${work} ${over} && umount ${over}`;
  try {
    execFileSync('sh', ['-c', tried], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const NPM_CACHE = '/var/cache/npm';

/** Builds the stand-in for the Node image, with npm and other programs that our image must not contain. */
async function commitBase(
  buildah: (command: string, ...more: readonly string[]) => Promise<string>,
  folder: string,
): Promise<void> {
  const container = await buildah('from', 'scratch');
  await buildah('add', '--quiet', container, await debian(), '/');
  const local = join(folder, 'local');
  mkdirSync(join(local, 'lib/node_modules/corepack'), { recursive: true });
  mkdirSync(join(local, 'bin'));
  cpSync(join(ROOT, 'node_modules/node/bin/node'), join(local, 'bin/node'));
  cpSync(npmFolder(), join(local, 'lib/node_modules/npm'), { recursive: true });
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm')]);
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npx-cli.js', join(local, 'bin/npx')]);
  await buildah('copy', '--quiet', container, local, '/usr/local');
  const variables = [`npm_config_cache=${NPM_CACHE}`, 'npm_config_prefer_offline=true'];
  variables.push(
    `npm_config_registry=${execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()}`,
  );
  // For a registry behind a proxy with its own CA.
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined && existsSync(authorities)) {
    await buildah('copy', '--quiet', container, authorities, '/etc/ssl/extra.pem');
    variables.push('NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem');
  }
  await buildah('config', ...variables.flatMap((variable) => ['--env', variable]), container);
  await buildah('commit', '--quiet', '--rm', '--format', 'docker', container, BASE);
  rmSync(local, { recursive: true });
}

/** A Debian like the base of the official images, as a tar file; created once. */
async function debian(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'coursegate-image');
  const file = join(cache, `${SUITE}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const making = join(cache, `${process.pid}.tar`);
  const options = { timeout: BUILD_TIME, maxBuffer: 64 * 1024 ** 2 };
  await run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', SUITE, making], options);
  renameSync(making, file);
  return file;
}

/** The path of npm on this machine. */
function npmFolder(): string {
  const program = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  return dirname(dirname(realpathSync(program)));
}
