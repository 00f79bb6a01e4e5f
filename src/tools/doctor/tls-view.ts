import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { type Limits, within } from './unavailable.ts';

export interface TlsView {
  /** When the certificate expires, in milliseconds since 1970. */
  readonly ends: number;
  /** Whether HTTP/2 was negotiated (RFC 7301). */
  readonly http2: boolean;
}

interface TlsOptions extends Limits {
  readonly ca?: string | undefined;
}

/** Performs a TLS handshake without a request. Throws NoAnswer. */
export function viewTls(origin: string, { ca, ...limits }: TlsOptions): Promise<TlsView> {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const server = isIP(host) === 0 ? { servername: host } : {};
  return within(limits, async (signal) => {
    const own = ca === undefined ? {} : { ca };
    const socket = connect({ host, port: Number(port || 443), ALPNProtocols: ['h2', 'http/1.1'], ...server, ...own });
    try {
      await once(socket, 'secureConnect', { signal });
      return { ends: Date.parse(socket.getPeerCertificate().valid_to), http2: socket.alpnProtocol === 'h2' };
    } finally {
      socket.destroy();
    }
  });
}

/** The status of a GET over HTTP/2 (RFC 9113). Throws NoAnswer. */
export function statusByHttp2(url: string, { ca, ...limits }: TlsOptions): Promise<number> {
  const { origin, pathname } = new URL(url);
  return within(limits, async (signal) => {
    const session = connectHttp2(origin, ca === undefined ? {} : { ca });
    // The stream fails with the session.
    session.on('error', () => undefined);
    try {
      const stream = session.request({ ':path': pathname, accept: 'application/json' });
      const [headers] = await once(stream, 'response', { signal });
      return Number(headers[':status']);
    } finally {
      session.destroy();
    }
  });
}
