import { once } from 'node:events';
import { connect as plainConnect, type Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import { serverName, socketHost } from '../../../http/host.ts';
import { type ExchangeLimits, timeOver, within } from '../unavailable.ts';

/** Where to send bytes, and how long to wait. */
export interface GatewayAddress extends ExchangeLimits {
  readonly origin: string;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string | undefined;
}

/** The most bytes that are read of one connection. */
const LONGEST = 512 * 1024;

/**
 * Sends bytes (Latin-1) on a connection of their own, and resolves to everything received until the other side closes
 * it, `enough` is true, or `patience` is over. Nothing is normalised on the way, as fetch would do. Throws NoAnswer if
 * there is no connection, and Unavailable when the time for everything is over.
 */
export async function sendRaw(
  to: GatewayAddress,
  bytes: string,
  enough: (received: string) => boolean = () => false,
): Promise<string> {
  const socket = await connected(to);
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

function connected({ origin, ca, ...limits }: GatewayAddress): Promise<Socket> {
  const url = new URL(origin);
  return within(limits, async (signal) => {
    const secure = url.protocol === 'https:';
    const at = { host: socketHost(url.hostname), port: Number(url.port || (secure ? 443 : 80)), noDelay: true };
    const trusted = ca === undefined ? {} : { ca };
    const socket = secure
      ? secureConnect({ ...at, ...trusted, servername: serverName(url), ALPNProtocols: ['http/1.1'] })
      : plainConnect(at);
    try {
      await once(socket, secure ? 'secureConnect' : 'connect', { signal });
      return socket;
    } catch (thrown) {
      socket.on('error', () => undefined).destroy();
      throw thrown;
    }
  });
}
