import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { type ExchangeLimits, within } from './unavailable.ts';

interface TlsOptions extends ExchangeLimits {
  readonly ca?: string | undefined;
}

/** When the site's certificate expires, in milliseconds since 1970. Throws NoAnswer. */
export function certificateEnd(origin: string, { ca, ...limits }: TlsOptions): Promise<number> {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const server = isIP(host) === 0 ? { servername: host } : {};
  return within(limits, async (signal) => {
    const socket = connect({ host, port: Number(port || 443), ...server, ...(ca === undefined ? {} : { ca }) });
    try {
      await once(socket, 'secureConnect', { signal });
      return Date.parse(socket.getPeerCertificate().valid_to);
    } finally {
      socket.destroy();
    }
  });
}
