import { once } from 'node:events';
import { connect } from 'node:tls';
import { serverName, socketHost } from '../../http/host.ts';
import { type ExchangeLimits, within } from './unavailable.ts';

interface TlsOptions extends ExchangeLimits {
  readonly ca?: string | undefined;
}

/** When the site's certificate expires, in milliseconds since 1970. Throws NoAnswer. */
export function certificateEnd(origin: string, { ca, ...limits }: TlsOptions): Promise<number> {
  const url = new URL(origin);
  const to = { host: socketHost(url.hostname), port: Number(url.port || 443), servername: serverName(url) };
  return within(limits, async (signal) => {
    const socket = connect({ ...to, ...(ca === undefined ? {} : { ca }) });
    try {
      await once(socket, 'secureConnect', { signal });
      return Date.parse(socket.getPeerCertificate().valid_to);
    } finally {
      socket.destroy();
    }
  });
}
