import { connect, type Socket } from 'node:net';
import { memoryOf } from '../support/cpu.ts';
import { collectGarbage } from '../support/inspector.ts';
import type { Running } from './peers/peer.ts';

export interface StreamMemory {
  /** Proportional set size before the streams, and what each open stream adds, in KiB. */
  readonly before: number;
  readonly each: number;
}

/**
 * Opens connections that are idle after the response to one request, or event streams that are idle after one event, and measures
 * the subject's memory. `until` is in the text that a client waits for.
 */
export async function memoryPerStream(
  running: Running,
  path: string,
  streams: number,
  until = 'data: hello',
): Promise<StreamMemory> {
  // The first streams cause one-time allocations, which must not count as memory per stream.
  const first = await Promise.all(Array.from({ length: 20 }, (_, at) => openStream(running, path, until, at)));
  for (const socket of first) socket.destroy();
  await settled(running);
  const before = memoryOf(running.roots);
  const sockets: Socket[] = [];
  while (sockets.length < streams) {
    const batch = Array.from({ length: 50 }, (_, at) => openStream(running, path, until, at));
    sockets.push(...(await Promise.all(batch)));
  }
  await settled(running);
  const each = (memoryOf(running.roots) - before) / sockets.length;
  for (const socket of sockets) socket.destroy();
  return { before, each };
}

function openStream({ port, tokens }: Running, path: string, until: string, at: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the stream was closed: ${text}`)));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes(until)) resolve(socket);
    });
    const authorization = tokens.length === 0 ? '' : `Authorization: Bearer ${tokens[at % tokens.length]}\r\n`;
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/event-stream\r\n${authorization}\r\n`,
    );
  });
}

/** Waits until the subject is idle, and makes it collect garbage. */
async function settled({ roots, inspector }: Running): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  if (inspector === undefined) return;
  // The second collection frees what was reachable only from objects freed by the first. Then V8 returns pages.
  for (const _ of [1, 2]) await collectGarbage(roots[0] ?? 0, inspector);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
