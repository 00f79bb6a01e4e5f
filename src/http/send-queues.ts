import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { ipv6Groups } from './client-network.ts';

/**
 * The bytes of each connection that Linux holds until the other side has acknowledged them (`tx_queue` in
 * /proc/net/tcp, proc(5)). Node only notices progress after a third of that queue has been sent, which is a megabyte or
 * more: a client that reads ten kilobytes a second would appear stalled for minutes.
 */
export interface SendQueues {
  /** In bytes; undefined for a connection that is not listed. */
  of(socket: Socket): number | undefined;
}

/**
 * Returns undefined if the system does not provide this. With thousands of connections, reading the tables takes some
 * milliseconds, but not on our thread.
 */
export async function readSendQueues(): Promise<SendQueues | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  const queues = new Map<string, number>();
  for (const table of tables) {
    // `12: 0100007F:1F90 0100007F:AE26 01 00373E00:00000000 …`: local, remote, state, send queue and receive queue.
    for (const [, localPort, remote, remotePort, queue] of table.matchAll(
      /: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/g,
    ))
      queues.set(`${localPort} ${remote} ${remotePort}`, Number.parseInt(queue as string, 16));
  }
  if (queues.size === 0) return undefined;
  return {
    of({ localPort = 0, remoteAddress = '', remotePort = 0 }) {
      return queues.get(`${port(localPort)} ${address(remoteAddress)} ${port(remotePort)}`);
    },
  };
}

const port = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');

/** An address as the kernel prints it: words of four bytes, each in the machine's byte order. */
function address(text: string): string {
  const bytes = bytesOf(text);
  const words = new Uint32Array(bytes.buffer, 0, bytes.length / 4);
  return [...words].map((word) => word.toString(16).toUpperCase().padStart(8, '0')).join('');
}

function bytesOf(text: string): Uint8Array {
  const [plain = ''] = text.split('%');
  if (!plain.includes(':')) return new Uint8Array(plain.split('.').map(Number));
  const groups = ipv6Groups(plain).map((group) => Number.parseInt(group, 16));
  return new Uint8Array(groups.flatMap((group) => [group >> 8, group & 255]));
}
