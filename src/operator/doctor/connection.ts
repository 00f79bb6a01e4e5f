import { once } from 'node:events';
import { connect as plainConnect, type Socket } from 'node:net';
import { connect as secureConnect, type TLSSocket } from 'node:tls';
import { serverName, socketHost } from '../../http/host.ts';
import { type ExchangeLimits, within } from './unavailable.ts';

/** Where a server is, and how long to wait for it. */
export interface ServerAddress extends ExchangeLimits {
  readonly origin: string;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string | undefined;
}

/** Opens a connection, with TLS for https. Throws NoAnswer, and Unavailable when the time for everything is over. */
export function openSocket({ origin, ca, ...limits }: ServerAddress): Promise<Socket> {
  const url = new URL(origin);
  const secure = url.protocol === 'https:';
  return within(limits, async (signal) => {
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

/** When the certificate of an https site expires, in milliseconds since 1970. Throws NoAnswer. */
export async function certificateEnd(site: ServerAddress): Promise<number> {
  const socket = (await openSocket(site)) as TLSSocket;
  const { valid_to: end } = socket.getPeerCertificate();
  socket.destroy();
  return Date.parse(end);
}
