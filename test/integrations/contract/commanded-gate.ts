import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../src/operations/log.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { startWorld, type World } from '../../support/world.ts';

/** The gate's audit event of one accepted command. */
interface Ended {
  readonly id: string;
  readonly reason: string;
  readonly by: string;
}

/** A real gate that a backend sends commands to, through a connection that can fail. */
export interface CommandedGate {
  readonly world: World;
  /** The URL at which the backend reaches the admin listener. */
  readonly admin: string;
  /** `hang`: connections are accepted but get no response; `refuse`: they are closed at once. */
  wire(state: 'well' | 'hang' | 'refuse'): void;
  /** The number of connections that the backend has opened. */
  connections(): number;
  /** Every revocation of a member, oldest first. */
  ended(): readonly Ended[];
  /** Refused commands. */
  refused(): number;
  close(): Promise<void>;
}

export async function startCommandedGate(): Promise<CommandedGate> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-commanded-'));
  const world = await startWorld({
    profile: 'A',
    environment: { COMMAND_SECRET },
    overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } },
    log: createLog('info', openSync(join(folder, 'log'), 'w')),
  });
  let state: 'well' | 'hang' | 'refuse' = 'well';
  let connections = 0;
  const open = new Set<Socket>();
  const wire = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    if (state === 'refuse') socket.destroy();
    if (state !== 'well') return;
    const gate = connect(Number(new URL(world.admin).port), '127.0.0.1');
    gate.on('error', () => socket.destroy());
    socket.once('close', () => gate.destroy());
    socket.pipe(gate).pipe(socket);
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const audit = () =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, string>);
  return {
    world,
    admin: `http://127.0.0.1:${(wire.address() as AddressInfo).port}`,
    wire(next) {
      state = next;
      // Idle connections as well.
      for (const socket of open) socket.destroy();
    },
    connections: () => connections,
    ended: () =>
      audit()
        .filter((line) => line['event.action'] === 'member_revoked')
        .map((line) => ({
          id: line['user.id'] ?? '',
          reason: line['event.reason'] ?? '',
          by: line['coursegate.by'] ?? '',
        })),
    refused: () => audit().filter((line) => line['event.action'] === 'command_refused').length,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => wire.close(resolve));
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
