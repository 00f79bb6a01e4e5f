import { setTimeout as sleep } from 'node:timers/promises';
import { rawSocket } from '../../support/raw-socket.ts';

/** The data received on one connection, and whether the gate closed it. */
export interface Exchanged {
  readonly received: string;
  readonly statuses: readonly number[];
  readonly closed: boolean;
}

/** Far more than the upstream's timeout, which is the longest that an attempt waits for. */
const PATIENCE_MS = 15_000;

/** Sends bytes in the given pieces on a new connection, and reads until the gate closes it. */
export async function exchange(
  port: number,
  pieces: readonly string[],
  options: { readonly first?: string | undefined; readonly halfClose?: boolean; readonly from?: string } = {},
): Promise<Exchanged> {
  const connection = await rawSocket(port, options.from);
  const timer = setTimeout(() => connection.socket.destroy(new Error('too long')), PATIENCE_MS);
  if (options.first !== undefined) {
    connection.write(options.first);
    // Every response of the stand's upstream ends like this.
    await connection.until(/record-of-[\w-]+$/);
  }
  for (const piece of pieces) {
    connection.write(piece);
    // Long enough for the gate to read the piece by itself.
    if (pieces.length > 1) await sleep(1);
  }
  if (options.halfClose === true) connection.socket.end();
  const how = await connection.closed;
  clearTimeout(timer);
  const received = connection.received();
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { received, statuses, closed: how !== 'error' };
}

export function inPieces(bytes: string, cut: number | undefined): string[] {
  const at = Math.ceil(bytes.length * (cut ?? 1));
  return [bytes.slice(0, at), bytes.slice(at)].filter((piece) => piece !== '');
}
