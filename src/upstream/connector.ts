import type { Socket } from 'node:net';
import buildConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';

/** Milliseconds to wait for a response after the upstream has stopped reading the request. */
const CLOSE_GRACE = 1_000;

/**
 * Creates an undici connector with two things that undici lacks: a deadline that is accurate to the millisecond (its
 * own timers are up to a second late), and responses that survive a failed write.
 * @param timeout milliseconds for name resolution, TCP and TLS together
 */
export function createConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout: 0, allowH2: false }) as (
    ...parameters: Parameters<buildConnector.connector>
  ) => Socket;
  return (options, callback) => {
    const socket = connect(options, (...outcome) => {
      clearTimeout(deadline);
      callback(...outcome);
    });
    const deadline = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError()), timeout);
    readOnAfterFailedWrite(socket);
    // Runs before undici's own listener, which treats a reset as the end of a response that has no length: a truncated
    // response would look complete.
    socket.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
    });
  };
}

type Write = (...parameters: unknown[]) => void;

/**
 * An upstream that refuses an upload sends a 413 and closes while some of our bytes are still unread. Its kernel then
 * resets the connection, our next write fails, and node:net would destroy the socket with the response still unread in
 * it. Here such a failed write is ignored, the response is read, and the connection ends by itself.
 * @param failed called when that happens
 */
export function readOnAfterFailedWrite(socket: Socket, failed?: () => void): void {
  let deaf = false;
  const guard = (write: Write): Write => {
    return function guarded(this: Socket, ...parameters) {
      const done = parameters.pop() as (error?: Error | null) => void;
      if (deaf) return done();
      write.call(this, ...parameters, (error?: NodeJS.ErrnoException | null) => {
        if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') return done(error);
        deaf = true;
        failed?.();
        const end = setTimeout(() => socket.destroy(error), CLOSE_GRACE);
        socket.once('close', () => clearTimeout(end));
        done();
      });
    };
  };
  const writable = socket as unknown as { _write: Write; _writev: Write };
  writable._write = guard(writable._write);
  writable._writev = guard(writable._writev);
}
