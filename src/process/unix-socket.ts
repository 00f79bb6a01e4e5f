import { once } from 'node:events';
import { unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';

/** The owner and the group may connect, which takes the right to write. */
const NO_OTHERS = 0o117;

/**
 * Listens on a Unix socket that only its owner and their group can use. A socket file that a killed process has left
 * behind is replaced. Rejects with Node's error: EADDRINUSE if another process listens there.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (await isLeftBehind(path)) await unlink(path).catch(() => undefined);
  const before = process.umask(NO_OTHERS);
  try {
    // The file is created at once, with the mask of this moment.
    server.listen({ path });
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
}

async function isLeftBehind(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect');
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
