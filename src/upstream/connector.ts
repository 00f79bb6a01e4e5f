import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

/** Milliseconds an answer may take to arrive after the upstream stopped reading the request. */
const LAST_WORDS = 1_000;

/**
 * Makes undici's connector with what undici lacks: a deadline to the millisecond (its own timers are up to a second
 * late), and answers that survive a failed write. In: milliseconds for name resolution, TCP and TLS together.
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
    // Ahead of undici's own listener, to which a reset is the end of an answer without a length: half of one looks whole.
    socket.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
    });
  };
}

type Write = (...parameters: unknown[]) => void;

/**
 * An upstream that refuses an upload answers 413 and closes, with our bytes unread: its kernel resets the connection,
 * our next write fails, and node:net would destroy the socket with the answer unread in it. Here a write that fails
 * because nobody reads is dropped instead, and what the upstream said last is read; then the connection ends by itself.
 */
export function readOnAfterFailedWrite(socket: Socket): void {
  let deaf = false;
  const guard = (write: Write): Write => {
    return function guarded(this: Socket, ...parameters) {
      const done = parameters.pop() as (error?: Error | null) => void;
      if (deaf) return done();
      write.call(this, ...parameters, (error?: NodeJS.ErrnoException | null) => {
        if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') return done(error);
        deaf = true;
        const end = setTimeout(() => socket.destroy(error), LAST_WORDS);
        socket.once('close', () => clearTimeout(end));
        done();
      });
    };
  };
  const writable = socket as unknown as { _write: Write; _writev: Write };
  writable._write = guard(writable._write);
  writable._writev = guard(writable._writev);
}
