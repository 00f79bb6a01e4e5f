import { connect, type Socket } from 'node:net';

/** A connection on which a test reads and writes bytes. Text is Latin-1, one character per byte. */
export interface RawSocket {
  readonly socket: Socket;
  /** Everything received so far. */
  received(): string;
  write(bytes: string): void;
  /** Resolves with the match when what was received matches; rejects when the connection closes first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the connection is closed: with `end` after a FIN, otherwise with the error's code. */
  readonly closed: Promise<string>;
}

/** Connects to `port`, from the local address `from` if given. */
export async function rawSocket(port: number, from?: string): Promise<RawSocket> {
  // Without Nagle's algorithm, which holds back a second write until the first one is acknowledged, after 40 ms.
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  let received = '';
  let how = 'end';
  const watchers = new Set<() => void>();
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(how)));
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    for (const look of watchers) look();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    how = error.code ?? 'error';
  });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    socket,
    closed,
    received: () => received,
    write: (bytes) => void socket.write(bytes, 'latin1'),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(received);
          if (match === null) return;
          watchers.delete(look);
          resolve(match);
        };
        watchers.add(look);
        look();
        void closed.then((end) => reject(new Error(`closed (${end}) after ${JSON.stringify(received)}`)));
      }),
  };
}

/** Writes bytes and returns everything received until the other side closed the connection. */
export async function rawExchange(port: number, bytes: string): Promise<string> {
  const connection = await rawSocket(port);
  connection.write(bytes);
  await connection.closed;
  return connection.received();
}
