import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { relay } from './relay.ts';

const RELAY = fileURLToPath(new URL('relay.ts', import.meta.url));
const ip = (text: string) => promisify(execFile)('ip', text.split(' '));

/**
 * A bridge with a network namespace for each container, as engines make one for each Compose project. The bridge has a
 * namespace, too: browsers of other tests would end their requests when this machine gets another interface.
 */
export interface ContainerNetwork {
  /** The name of each container's namespace, and its address. */
  readonly members: Readonly<Record<string, { readonly namespace: string; readonly address: string }>>;
  /** Forwards connections to a loopback port of this machine to a container's address, as for a published port. */
  publish(port: number, member: string, target: number): Promise<void>;
  close(): Promise<void>;
}

export async function startNetwork(names: readonly string[]): Promise<ContainerNetwork> {
  const id = randomBytes(3).toString('hex');
  const engine = `cg${id}`;
  const prefix = '10.200.0';
  const servers: Server[] = [];
  const relays: { readonly process: ChildProcess; readonly socket: string }[] = [];
  const members: Record<string, { namespace: string; address: string }> = {};
  await ip(`netns add ${engine}`);
  await ip(`-n ${engine} link add bridge type bridge`);
  await ip(`-n ${engine} address add ${prefix}.1/24 dev bridge`);
  await ip(`-n ${engine} link set bridge up`);
  for (const [index, name] of names.entries()) {
    const [namespace, outer, address] = [`${engine}-${index}`, `member${index}`, `${prefix}.${index + 2}`];
    await ip(`netns add ${namespace}`);
    await ip(`-n ${engine} link add ${outer} type veth peer name eth0 netns ${namespace}`);
    await ip(`-n ${engine} link set ${outer} master bridge up`);
    await ip(`-n ${namespace} link set lo up`);
    await ip(`-n ${namespace} address add ${address}/24 dev eth0`);
    await ip(`-n ${namespace} link set eth0 up`);
    members[name] = { namespace, address };
  }
  return {
    members,
    async publish(port, member, target) {
      const socket = `${tmpdir()}/${engine}-${relays.length}.sock`;
      const command = [process.execPath, RELAY, socket, members[member]?.address ?? '', String(target)];
      const child = spawn('ip', ['netns', 'exec', engine, ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
      relays.push({ process: child, socket });
      await once(child.stdout, 'data');
      const server = createServer((incoming) => relay(incoming, createConnection(socket)));
      servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
    },
    async close() {
      for (const server of servers) server.close();
      for (const { process: child, socket } of relays) {
        child.kill('SIGKILL');
        rmSync(socket, { force: true });
      }
      for (const { namespace } of Object.values(members)) await ip(`netns delete ${namespace}`);
      await ip(`netns delete ${engine}`);
    },
  };
}
