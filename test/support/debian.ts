import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { missing } from './missing.ts';
import { type WatchedProcess, watchProcess } from './watched.ts';

const SUITE = 'bookworm';
const MAKING_TIME = 15 * 60_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface DebianOptions {
  /** Packages of Debian besides the essential ones, apt and ca-certificates. A root is kept for each list. */
  readonly packages?: readonly string[];
  /** Folders of this machine by their path inside. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** Whether a systemd is process 1, as on a server, instead of a process that only waits. */
  readonly systemd?: boolean;
}

export interface RunOptions {
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * `own` is a loopback interface that only this Debian has, so that fixed ports are free. `machine` is the network of
   * this machine, to reach registries.
   */
  readonly network?: 'own' | 'machine';
  /** Standard input. */
  readonly input?: string;
}

interface Ran {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Debian 12 with its own processes, mounts and loopback interface. Everything in it is gone after `remove`. */
export interface Debian {
  /** The folder where this machine sees its files. An absolute link in it leads to this machine's own files. */
  readonly path: string;
  /** Runs a shell command in root's home folder. */
  run(command: string, options?: RunOptions): Promise<Ran>;
  /** The same, for a command that must succeed: throws with its output otherwise. Resolves with standard output. */
  succeed(command: string, options?: RunOptions): Promise<string>;
  /** Starts a shell command and does not wait for its end. Signals reach the shell's process, so begin it with `exec`. */
  start(command: string, options?: RunOptions): WatchedProcess;
  /** Starts a program of this machine, with this machine's files, in the network of the Debian. */
  startBeside(program: string, args: readonly string[]): WatchedProcess;
  remove(): Promise<void>;
}

/**
 * Whether a Debian can be made here. Without the program, the tests are skipped by name, with instructions. In CI they fail
 * instead, since a green run must mean that they ran. Without permission to mount, they are skipped, also in CI.
 */
export function debianPresent(): boolean {
  if (!(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'mmdebstrap')))) {
    return missing('no mmdebstrap found: it makes the Debian that these tests run in (apt-get install mmdebstrap)');
  }
  try {
    execFileSync('unshare', ['--mount', '--pid', '--net', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return missing('tests in a Debian need the right to mount (root)', true);
  }
}

/**
 * The folder with a minimal Debian 12, made by mmdebstrap. It is made once per machine and list of packages and must not
 * be written to: a test works in a copy, from `startDebian`.
 */
export async function debianRoot(packages: readonly string[] = []): Promise<string> {
  const name = [SUITE, ...packages.toSorted()].join('+');
  const root = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'coursegate-debian', name);
  if (existsSync(root)) return root;
  mkdirSync(dirname(root), { recursive: true });
  const include = `--include=${['ca-certificates', ...packages].join(',')}`;
  const options = `--quiet --variant=minbase ${include}`;
  // A second process that wants the same root waits for the first one.
  const script = `[ -e "$0" ] || { rm -rf "$0.making" && mmdebstrap ${options} ${SUITE} "$0.making" && mv "$0.making" "$0"; }`;
  const making = watchProcess(
    spawn('flock', [`${root}.lock`, 'sh', '-c', script, root], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAKING_TIME,
    }),
  );
  const code = await making.exited;
  if (code !== 0) throw new Error(`mmdebstrap ended with ${code}: ${making.stderr()}`);
  return root;
}

/** Starts a copy of the minimal Debian. */
export async function startDebian({
  packages = [],
  mounts = {},
  systemd = false,
}: DebianOptions = {}): Promise<Debian> {
  const lower = await debianRoot(systemd ? ['dbus', 'systemd', ...packages] : packages);
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-debian-'));
  for (const name of ['root', 'upper', 'work']) mkdirSync(join(folder, name), { mode: 0o755 });
  const spaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child'];
  const script = first({ lower, folder, mounts, systemd });
  // Ends with this process, whatever ends it.
  const program = ['--pdeathsig', 'KILL', 'unshare', ...spaces, 'sh', '-c', script];
  const holder = watchProcess(spawn('setpriv', program, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const pid = (await holder.line(/^started \d+$/)).slice('started '.length);

  const start = (command: string, { user = 'root', environment = {}, network = 'own', input }: RunOptions = {}) => {
    const entered = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd'];
    if (network === 'own') entered.push('--net');
    const variables = { PATH, LANG: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive', ...environment };
    const set = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
    // runuser changes HOME, and the folder is entered by the shell, whose user may not be allowed to.
    const shell = ['sh', '-c', `cd ~ 2>/dev/null || cd /\n${command}`];
    const program = ['runuser', '--user', user, '--', 'env', '-i', ...set, 'sh', '-c', HOME_THEN, ...shell];
    const child = spawn('nsenter', [`--target=${pid}`, ...entered, ...program], { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined).end(input ?? '');
    const inner = watchProcess(child);
    return { ...inner, signal: (signal: NodeJS.Signals) => signalChild(child.pid, signal) };
  };
  const run = async (command: string, options?: RunOptions): Promise<Ran> => {
    const ran = start(command, options);
    return { code: await ran.exited, stdout: ran.stdout(), stderr: ran.stderr() };
  };
  const beside: WatchedProcess[] = [];
  if (systemd)
    await run(`until systemctl is-system-running --wait 2>&1 | grep -q 'running\\|degraded'; do sleep 0.1; done`);
  return {
    path: `/proc/${pid}/root`,
    start,
    run,
    async succeed(command, options) {
      const { code, stdout, stderr } = await run(command, options);
      if (code !== 0) throw new Error(`${command}\nended with ${code}\n${stdout}${stderr}`);
      return stdout;
    },
    startBeside(program, args) {
      const entered = [`--target=${pid}`, '--net', program, ...args];
      const child = watchProcess(spawn('nsenter', entered, { stdio: ['ignore', 'pipe', 'pipe'] }));
      beside.push(child);
      return child;
    },
    async remove() {
      for (const child of beside) child.signal('SIGKILL');
      await Promise.all(beside.map(({ exited }) => exited));
      // The kernel ends every other process and mount with process 1, and unshare ends after them.
      process.kill(Number(pid), 'SIGKILL');
      await holder.exited;
      if (systemd) execFileSync('unshare', ['--mount', 'sh', '-c', removedGroup(folder)]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sets HOME to the folder of the user, which `env -i` has removed, and runs the rest of its arguments. */
const HOME_THEN = 'HOME=$(getent passwd "$(id -u)" | cut -d: -f6) exec "$0" "$@"';

/** nsenter stays outside and only waits, so a signal goes to the process that it waits for. */
function signalChild(pid: number | undefined, signal: NodeJS.Signals): void {
  const children = execFileSync('ps', ['--no-headers', '-o', 'pid', '--ppid', String(pid)], { encoding: 'utf8' });
  for (const child of children.trim().split(/\s+/)) process.kill(Number(child), signal);
}

interface FirstProcess extends Required<Pick<DebianOptions, 'mounts' | 'systemd'>> {
  readonly lower: string;
  readonly folder: string;
}

/** The script of process 1: mounts the copy, makes it the root, prints its id as this machine sees it, and waits. */
function first({ lower, folder, mounts, systemd }: FirstProcess): string {
  const root = join(folder, 'root');
  const overlay = `lowerdir=${lower},upperdir=${folder}/upper,workdir=${folder}/work`;
  const node = (name: string) => `touch dev/${name}; mount --bind /dev/${name} dev/${name}`;
  const outer = [
    'set -e',
    'mount --make-rprivate /',
    // Inside a container, an overlay on an overlay is refused: then the copy is a real one.
    `mount -t overlay overlay -o ${overlay} ${root} || { cp -a ${lower}/. ${root}; mount --bind ${root} ${root}; }`,
    ...(systemd ? ownGroup(folder) : []),
    `cd ${root}`,
  ];
  const inner = [
    'set -e',
    'mount -t tmpfs -o mode=755 tmpfs dev',
    ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map(node),
    'mkdir dev/pts dev/shm',
    'mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts',
    'mount -t tmpfs -o mode=1777 tmpfs dev/shm',
    'ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd',
    'ln -s /proc/self/fd/0 dev/stdin; ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr',
    'mount -t sysfs -o ro sysfs sys',
    'mount -t tmpfs -o mode=755 tmpfs run',
    ...(systemd ? ['mount -t cgroup2 cgroup2 sys/fs/cgroup'] : []),
    ...Object.entries(mounts).flatMap(([place, from]) => [
      `mkdir -p .${quoted(place)}`,
      `mount --bind ${quoted(from)} .${quoted(place)}`,
    ]),
    'cat /etc/resolv.conf > etc/resolv.conf',
    // Nothing here must survive a power failure, and dpkg waits for the disk after each file otherwise.
    'echo force-unsafe-io > etc/dpkg/dpkg.cfg.d/test',
    'echo debian > etc/hostname; hostname debian; echo "127.0.0.1 localhost debian" > etc/hosts',
    'ip link set lo up',
    'read -r self rest < /proc/self/stat',
    'mount -t proc proc proc',
    'mkdir -p .outside; pivot_root . .outside; cd /; umount -l .outside; rmdir .outside',
    'echo "started $self"',
    systemd ? `exec env -i container=test PATH=${PATH} /lib/systemd/systemd >/dev/null 2>&1` : 'exec sleep infinity',
  ];
  return [...outer, `exec unshare --cgroup sh -c ${quoted(inner.join('\n'))}`].join('\n');
}

/** Puts process 1 in a control group that it owns, which systemd needs to keep services apart. */
const ownGroup = (folder: string) => [
  `mkdir ${folder}/groups; mount -t cgroup2 cgroup2 ${folder}/groups`,
  `mkdir ${folder}/groups/${basename(folder)}; echo $$ > ${folder}/groups/${basename(folder)}/cgroup.procs`,
  `umount ${folder}/groups`,
];

/** Removes it, with the groups of the services that were in it. */
const removedGroup = (folder: string) =>
  `mount -t cgroup2 cgroup2 ${folder}/groups && find ${folder}/groups/${basename(folder)} -depth -type d -exec rmdir {} +`;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
