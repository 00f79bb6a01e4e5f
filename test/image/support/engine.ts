import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../packaging/files.ts';
import { debianPresent, debianRoot } from '../../support/debian.ts';
import { missing } from '../../support/missing.ts';

/** The base image of the Dockerfile. */
const BASE = 'docker.io/library/node:24-bookworm-slim';
const NPM_CACHE = '/var/cache/npm';
const BUILD_TIME = 15 * 60_000;

/** The part of an image's configuration that the tests use. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
}

export interface BuiltImage<Configuration extends ImageConfiguration = ImageConfiguration> {
  readonly configuration: Configuration;
  /** The folder with its files. */
  readonly root: string;
  /** Folders of this machine that belong to it, as in `ContainerOptions`. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export interface Engine {
  /** The variables with which buildah uses this engine's storage, also for a process of ours that runs it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs buildah and resolves with its output. */
  buildah(...args: readonly string[]): Promise<string>;
  /** Builds the Dockerfile of a folder as `docker build` does, with npm's cache. Resolves with the name of the image. */
  build(folder: string, options: readonly string[]): Promise<string>;
  /** Makes a container of an image, whose files are deleted with the engine, and lists the digests of its layers. */
  container<Configuration extends ImageConfiguration>(
    image: string,
  ): Promise<BuiltImage<Configuration> & { readonly layers: readonly string[] }>;
  remove(): Promise<void>;
}

/**
 * Whether an image can be built here. Without the programs, its tests are skipped by name, with instructions. In CI they
 * fail instead, since a green run must mean that they ran. Without permission to mount, they are skipped, also in CI.
 */
export function enginePresent(): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  const tools = { buildah: 'buildah', ip: 'iproute2' };
  const lacking = Object.entries(tools).filter(([tool]) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (lacking.length > 0) {
    const packages = lacking.map(([, name]) => name).join(' ');
    return missing(`the image is built and run with ${Object.keys(tools).join(' and ')} (apt-get install ${packages})`);
  }
  return debianPresent();
}

/**
 * Starts with an empty storage in which a Debian made by mmdebstrap, with the Node and the npm of this machine, has the name
 * of the official Node image: nothing is pulled. Commands of a build run in a chroot.
 */
export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-image-'));
  const storage = `[storage]
driver = "${canOverlay(folder) ? 'overlay' : 'vfs'}"
graphroot = "${folder}/root"
runroot = "${folder}/run"
`;
  writeFileSync(join(folder, 'storage.conf'), storage);
  const environment = { CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'), BUILDAH_ISOLATION: 'chroot' };
  const buildah = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, ...environment };
    const options = { env, maxBuffer: 64 * 1024 ** 2, timeout: BUILD_TIME };
    return (await promisify(execFile)('buildah', args, options)).stdout.trim();
  };
  await commitBase(buildah, folder);
  return {
    environment,
    buildah,
    async build(context, options) {
      const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
      mkdirSync(cache, { recursive: true });
      const place = ['--volume', `${cache}:${NPM_CACHE}`, '--tag', 'coursegate:test', context];
      await buildah('build-using-dockerfile', '--format=docker', '--pull-never', '--layers', ...options, ...place);
      return 'localhost/coursegate:test';
    },
    async container<Configuration extends ImageConfiguration>(image: string) {
      const inspected = JSON.parse(await buildah('inspect', '--type', 'image', image)) as {
        Docker: { config: Configuration; rootfs: { diff_ids: readonly string[] } };
      };
      const root = await buildah('mount', await buildah('from', '--pull-never', image));
      return { configuration: inspected.Docker.config, root, layers: inspected.Docker.rootfs.diff_ids };
    },
    async remove() {
      await buildah('umount', '--all');
      await promisify(execFile)('rm', ['-rf', folder], { timeout: BUILD_TIME });
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

/** Builds the stand-in for the Node image, with npm and other programs that our image must not contain. */
async function commitBase(buildah: Engine['buildah'], folder: string): Promise<void> {
  const container = await buildah('from', 'scratch');
  const local = join(folder, 'local');
  mkdirSync(join(local, 'lib/node_modules/corepack'), { recursive: true });
  mkdirSync(join(local, 'bin'));
  cpSync(join(ROOT, 'node_modules/node/bin/node'), join(local, 'bin/node'));
  writeFileSync(join(local, 'LICENSE'), 'The licence of Node.\n');
  cpSync(npmFolder(), join(local, 'lib/node_modules/npm'), { recursive: true });
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm')]);
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npx-cli.js', join(local, 'bin/npx')]);
  await buildah('copy', '--quiet', container, await debianRoot(), '/');
  await buildah('copy', '--quiet', container, local, '/usr/local');
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const variables = [
    `npm_config_cache=${NPM_CACHE}`,
    'npm_config_prefer_offline=true',
    `npm_config_registry=${registry}`,
  ];
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

/** The path of npm on this machine. */
function npmFolder(): string {
  const program = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  return dirname(dirname(realpathSync(program)));
}
