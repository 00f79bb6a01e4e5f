import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { WatchedProcess } from '../../support/watched.ts';
import type { Project, Service } from './compose.ts';
import { type ContainerOptions, type Ran, runInContainer, startContainer } from './container.ts';
import type { BuiltImage } from './engine.ts';
import { startNetwork } from './network.ts';

/** As engines do, with shorter pauses. In milliseconds. */
const PROBE_INTERVAL = 500;
const LONGEST_START = 120_000;

export interface RunningProject {
  /** Runs a program in a running service, as `docker compose exec` does. */
  exec(service: string, program: readonly string[]): Promise<Ran>;
  /** The services in the order in which they were started, and what each waited for: `healthy`, `completed`. */
  readonly order: readonly string[];
  /** The output of a service so far. */
  output(service: string): string;
  close(): Promise<void>;
}

/**
 * Starts the services of a Compose project without an engine, as `docker compose up` does: in the order of `depends_on`,
 * each in its own network namespace, where the others have their names, with its mounts and variables, and with its
 * published ports on this machine. A condition that is not met in time rejects with the service's output.
 */
export async function startProject(
  { services }: Project,
  images: (service: Service) => BuiltImage,
): Promise<RunningProject> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-compose-'));
  const network = await startNetwork(Object.keys(services));
  const hosts = Object.entries(network.members).map(([name, { address }]) => `${address} ${name}\n`);
  writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost\n${hosts.join('')}`);

  const running = new Map<string, WatchedProcess>();
  const optionsOf = (name: string, service: Service): ContainerOptions => ({
    environment: service.environment,
    readOnly: service.read_only ?? false,
    network: network.members[name]?.namespace ?? '',
    mounts: {
      '/etc/hosts:ro': join(folder, 'hosts'),
      ...mountsOf(name, service, join(folder, 'volumes'), images(service)),
    },
  });
  const exec = (name: string, program: readonly string[]) => {
    const service = services[name] as Service;
    return runInContainer(images(service), program, optionsOf(name, service));
  };
  const output = (name: string) => `${running.get(name)?.stdout()}${running.get(name)?.stderr()}`;
  const met = async (name: string, condition: string): Promise<void> => {
    const container = running.get(name) as WatchedProcess;
    const failed = (why: string) => new Error(`${name} ${why}: ${output(name)}`);
    if (condition === 'service_completed_successfully') {
      if ((await container.exited) !== 0) throw failed('failed');
      return;
    }
    const [kind, ...probe] = services[name]?.healthcheck?.test ?? [];
    if (kind !== 'CMD') throw failed('has no health check in exec form');
    let over = false;
    void container.exited.then(() => {
      over = true;
    });
    for (const until = Date.now() + LONGEST_START; ; ) {
      const { code, stdout, stderr } = await exec(name, probe);
      if (code === 0) return;
      if (over || Date.now() > until) throw failed(`is not healthy (${stdout}${stderr})`);
      await setTimeout(PROBE_INTERVAL);
    }
  };
  const order: string[] = [];
  const start = async (name: string): Promise<void> => {
    if (running.has(name)) return;
    const service = services[name] as Service;
    const needed = Object.entries(service.depends_on ?? {});
    for (const [other] of needed) await start(other);
    for (const [other, { condition }] of needed) await met(other, condition);
    const image = images(service);
    const program = [
      ...(service.entrypoint ?? image.configuration.Entrypoint),
      ...(service.command ?? (service.entrypoint === null ? image.configuration.Cmd : [])),
    ];
    running.set(name, startContainer(image, program, optionsOf(name, service)));
    order.push(name);
    for (const { published, target } of service.ports ?? []) await network.publish(Number(published), name, target);
  };
  const close = async () => {
    for (const container of running.values()) container.signal('SIGKILL');
    for (const container of running.values()) await container.exited;
    await network.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const name of Object.keys(services)) await start(name);
    for (const name of Object.keys(services))
      if (services[name]?.healthcheck !== undefined) await met(name, 'service_healthy');
  } catch (error) {
    await close();
    throw error;
  }
  return { exec, order, output, close };
}

/**
 * The mounts of a service. A volume is a folder that services share by its name. A new one belongs to the owner of the
 * image's folder at its path. The image's own volumes are used by one service only.
 */
function mountsOf(
  name: string,
  { volumes = [] }: Service,
  folder: string,
  { root, configuration }: BuiltImage,
): Readonly<Record<string, string>> {
  const volume = (source: string, target: string) => {
    const path = join(folder, source);
    if (existsSync(path)) return path;
    mkdirSync(path, { recursive: true });
    if (!existsSync(root + target)) return path;
    const { uid, gid } = statSync(root + target);
    chownSync(path, uid, gid);
    return path;
  };
  const own = Object.keys(configuration.Volumes)
    .filter((target) => volumes.every((one) => one.target !== target))
    .map((target) => [target, volume(name + target.replaceAll('/', '-'), target)] as const);
  const named = volumes.map(
    ({ type, source, target, read_only }) =>
      [`${target}${read_only ? ':ro' : ''}`, type === 'volume' ? volume(source, target) : source] as const,
  );
  return Object.fromEntries([...own, ...named]);
}
