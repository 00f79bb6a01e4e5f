import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createConnection, createServer, type Server } from 'node:net';
import { promisify } from 'node:util';

const ip = (text: string) => promisify(execFile)('ip', text.split(' '));

/** A bridge with a network namespace for each container, as engines make one for each Compose project. */
export interface ContainerNetwork {
  /** The name of each container's namespace, and its address. */
  readonly members: Readonly<Record<string, { readonly namespace: string; readonly address: string }>>;
  /** Forwards connections to a loopback port of this machine to a container's address, as for a published port. */
  publish(port: number, member: string, target: number): Promise<void>;
  close(): Promise<void>;
}

export async function startNetwork(names: readonly string[]): Promise<ContainerNetwork> {
  const id = randomBytes(3).toString('hex');
  const prefix = `10.${200 + ((randomBytes(1)[0] ?? 0) % 50)}.${randomBytes(1)[0]}`;
  const bridge = `cg${id}`;
  const servers: Server[] = [];
  const members: Record<string, { namespace: string; address: string }> = {};
  await ip(`link add ${bridge} type bridge`);
  await ip(`address add ${prefix}.1/24 dev ${bridge}`);
  await ip(`link set ${bridge} up`);
  for (const [index, name] of names.entries()) {
    const [namespace, outer, address] = [`cg${id}-${index}`, `cg${id}${index}`, `${prefix}.${index + 2}`];
    await ip(`netns add ${namespace}`);
    await ip(`link add ${outer} type veth peer name eth0 netns ${namespace}`);
    await ip(`link set ${outer} master ${bridge} up`);
    await ip(`-n ${namespace} link set lo up`);
    await ip(`-n ${namespace} address add ${address}/24 dev eth0`);
    await ip(`-n ${namespace} link set eth0 up`);
    members[name] = { namespace, address };
  }
  return {
    members,
    async publish(port, member, target) {
      const server = createServer((incoming) => {
        const outgoing = createConnection(target, members[member]?.address);
        for (const [from, to] of [
          [incoming, outgoing],
          [outgoing, incoming],
        ] as const) {
          from.on('error', () => to.destroy());
          from.pipe(to);
        }
      });
      servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
    },
    async close() {
      for (const server of servers) server.close();
      for (const { namespace } of Object.values(members)) await ip(`netns delete ${namespace}`);
      await ip(`link delete ${bridge}`);
    },
  };
}
