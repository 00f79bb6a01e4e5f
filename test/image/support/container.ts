import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type WatchedProcess, watchProcess } from '../../support/watched.ts';
import type { BuiltImage } from './engine.ts';

export interface ContainerOptions {
  /** Files and folders of this machine by their path in the container. Paths that end in `:ro` are read-only. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** Variables besides those of the image. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether only mounts and /tmp can be written to, as with `--read-only --tmpfs /tmp`. Default: true. */
  readonly readOnly?: boolean;
  /** The name of a network namespace. Default: the network of this machine. */
  readonly network?: string;
}

export interface Ran {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

const UNSHARE = '/usr/bin/unshare';

/** Runs a program with its arguments in an image as an engine does, with the user and the variables of the image. */
export function startContainer(
  image: BuiltImage,
  program: readonly string[],
  { environment = {}, readOnly = true, network, ...options }: ContainerOptions = {},
): WatchedProcess {
  const { root, configuration } = image;
  const given = { '/etc/hosts:ro': '/etc/hosts', ...image.mounts, ...options.mounts };
  // A folder before what is mounted in it.
  const mounts = Object.entries(given).toSorted(([a], [b]) => (withoutFlag(a) < withoutFlag(b) ? -1 : 1));
  const [user, group] = configuration.User.split(':');
  const inside = (path: string) => quoted(root + path);
  const variables = [...configuration.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind ${inside('')} ${inside('')}`,
    `mkdir -p ${['/proc', '/dev', '/tmp'].map(inside).join(' ')}`,
    ...mounts.map(([place, source]) => mountPoint(inside(withoutFlag(place)), source)),
    ...(readOnly ? [`mount -o remount,bind,ro ${inside('')}`] : []),
    `mount -t proc proc ${inside('/proc')}`,
    `mount --rbind /dev ${inside('/dev')}`,
    `mount -t tmpfs tmpfs ${inside('/tmp')}`,
    ...mounts.flatMap(([place, source]) => {
      const path = withoutFlag(place);
      const bound = `${mountPoint(inside(path), source)}; mount --bind ${quoted(source)} ${inside(path)}`;
      return path === place ? [bound] : [bound, `mount -o remount,bind,ro ${inside(path)}`];
    }),
    // The image may have no other program than the one that is run, which is found in its own PATH.
    `exec env -i ${variables.map(quoted).join(' ')} ${UNSHARE} --root=${inside('')} --wd=${configuration.WorkingDir} ` +
      `--setuid=${user} --setgid=${group} ${program.map(quoted).join(' ')}`,
  ].join('\n');
  const entered = network === undefined ? [] : ['nsenter', `--net=/run/netns/${network}`];
  const spaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const [command = '', ...args] = [...entered, UNSHARE, ...spaces, 'sh', '-c', script];
  const outer = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  /** Process 1 of the container, with whose end all others end. */
  const first = () => Number(readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim());
  return {
    ...watchProcess(outer),
    get pid() {
      return first();
    },
    signal: (signal) => {
      if (outer.exitCode === null && outer.signalCode === null) process.kill(first(), signal);
    },
  };
}

/** The same, and waits for its end. */
export async function runInContainer(
  image: BuiltImage,
  program: readonly string[],
  options?: ContainerOptions,
): Promise<Ran> {
  const ran = startContainer(image, program, options);
  return { code: await ran.exited, stdout: ran.stdout(), stderr: ran.stderr() };
}

const withoutFlag = (place: string) => place.replace(/:ro$/, '');

/** Makes a file or a folder to mount on, unless it exists. */
function mountPoint(path: string, source: string): string {
  const make = statSync(source).isDirectory() ? `mkdir -p ${path}` : `{ mkdir -p ${dirname(path)}'; touch ${path}; }`;
  return `[ -e ${path} ] || ${make}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
