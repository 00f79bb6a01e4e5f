import { connect, type Socket } from 'node:net';
import { memoryOf } from '../support/cpu.ts';
import { collectGarbage } from '../support/inspector.ts';
import type { Running } from './peers/peer.ts';

export interface StreamMemory {
  /** KiB of proportional set size: before, and what one open stream adds. */
  readonly before: number;
  readonly each: number;
}

/** Opens event streams that fall silent after one event, and looks at what the subject then holds. */
export async function memoryPerStream(running: Running, path: string, streams: number): Promise<StreamMemory> {
  // What a first stream makes for good is not what each one costs.
  const first = await Promise.all(Array.from({ length: 20 }, (_, at) => openStream(running, path, at)));
  for (const socket of first) socket.destroy();
  await settled(running);
  const before = memoryOf(running.roots);
  const sockets: Socket[] = [];
  while (sockets.length < streams) {
    const batch = Array.from({ length: 50 }, (_, at) => openStream(running, path, at));
    sockets.push(...(await Promise.all(batch)));
  }
  await settled(running);
  const each = (memoryOf(running.roots) - before) / sockets.length;
  for (const socket of sockets) socket.destroy();
  return { before, each };
}

function openStream({ port, tokens }: Running, path: string, at: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the stream was closed: ${text}`)));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('data: hello')) resolve(socket);
    });
    const authorization = tokens.length === 0 ? '' : `Authorization: Bearer ${tokens[at % tokens.length]}\r\n`;
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/event-stream\r\n${authorization}\r\n`,
    );
  });
}

/** Nothing moves any more, and what is not needed is thrown away. */
async function settled({ roots, inspector }: Running): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  if (inspector === undefined) return;
  // Once for the young, once for what they held on to; then V8 gives pages back.
  for (const _ of [1, 2]) await collectGarbage(roots[0] ?? 0, inspector);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
