import { openSocket, type ServerAddress } from '../connection.ts';
import { timeOver } from '../unavailable.ts';

/** The most bytes that are read of one connection. */
const LONGEST = 512 * 1024;

/**
 * Sends bytes (Latin-1) on a connection of their own, and resolves to everything received until the other side closes
 * it, `enough` is true, or `patience` is over. Nothing is normalised on the way, as fetch would do. Throws NoAnswer if
 * there is no connection, and Unavailable when the time for everything is over.
 */
export async function sendRaw(
  to: ServerAddress,
  bytes: string,
  enough: (received: string) => boolean = () => false,
): Promise<string> {
  const socket = await openSocket(to);
  const received = await new Promise<string>((resolve) => {
    let text = '';
    const finish = () => {
      clearTimeout(timer);
      to.signal.removeEventListener('abort', finish);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(finish, to.patience);
    to.signal.addEventListener('abort', finish);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > LONGEST || enough(text)) finish();
    });
    // An error is followed by `close`. A gateway may refuse by closing, even before it has read everything.
    socket.on('error', () => undefined).on('close', finish);
    socket.write(bytes, 'latin1');
  });
  if (to.signal.aborted) throw timeOver();
  return received;
}
