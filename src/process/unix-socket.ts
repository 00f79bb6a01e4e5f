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
  await new Promise<void>((resolve, reject) => {
    const before = process.umask(NO_OTHERS);
    try {
      server.once('error', reject);
      // The file is created at once, with the mask of this moment.
      server.listen({ path }, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}

function isLeftBehind(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
}
