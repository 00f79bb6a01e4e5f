import { connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { noAnswer } from './no-answer.ts';
import { NoAnswer } from './unavailable.ts';

export interface TlsView {
  /** When the certificate expires, in milliseconds since 1970. */
  readonly ends: number;
  /** Whether HTTP/2 was negotiated (RFC 7301). */
  readonly http2: boolean;
}

export interface TlsOptions {
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
  readonly patience: number;
}

/** Performs a TLS handshake without a request. Throws NoAnswer. */
export function viewTls(origin: string, options: TlsOptions): Promise<TlsView> {
  return within(options, (done, failed) => {
    const socket = handshake(origin, options, () => {
      const ends = Date.parse(socket.getPeerCertificate().valid_to);
      done({ ends, http2: socket.alpnProtocol === 'h2' });
    });
    socket.on('error', failed);
    return () => socket.destroy();
  });
}

/** The status of a GET over HTTP/2 (RFC 9113). Throws NoAnswer. */
export function statusByHttp2(url: string, options: TlsOptions): Promise<number> {
  const { origin, pathname } = new URL(url);
  return within(options, (done, failed) => {
    const session = connectHttp2(origin, { createConnection: () => handshake(origin, options, () => undefined) });
    session.on('error', failed);
    const stream = session.request({ ':path': pathname, accept: 'application/json' });
    stream.on('error', failed);
    stream.on('response', (headers) => done(Number(headers[':status'])));
    return () => session.destroy();
  });
}

function handshake(origin: string, { ca }: TlsOptions, ready: () => void): TLSSocket {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const server = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const own = ca === undefined ? {} : { ca };
  return connect({ host, port: Number(port || 443), ALPNProtocols: ['h2', 'http/1.1'], ...server, ...own }, ready);
}

/** Runs work with a time limit, and closes what it opened. */
function within<T>(
  { signal, patience }: TlsOptions,
  work: (done: (value: T) => void, failed: (error: unknown) => void) => () => void,
): Promise<T> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  let close = () => {};
  const result = new Promise<T>((done, failed) => {
    close = work(done, (error) => failed(noAnswer(error)));
    end.addEventListener(
      'abort',
      () => failed(new NoAnswer(`no complete response within ${patience / 1000} seconds`)),
      {
        once: true,
      },
    );
  });
  return result.finally(() => close());
}
