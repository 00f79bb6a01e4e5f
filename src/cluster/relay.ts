import type { Readable } from 'node:stream';

/** Bytes of a line without an end that are waited for. */
const LONGEST = 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Passes on what a worker writes, whole lines at a time: several processes that write to one pipe break each other's lines
 * where they are longer than PIPE_BUF, or the pipe is full, and a client can make a line that long. In: the worker's end,
 * and who writes for all. Out: resolves when there is nothing more; what a killed worker left of a line is ended for it.
 */
export function relayLines(from: Readable, write: (lines: Buffer) => void): Promise<void> {
  let begun: Buffer[] = [];
  let length = 0;
  const flush = (more: readonly Buffer[]): void => {
    if (length + more.length > 0) write(Buffer.concat([...begun, ...more]));
    begun = [];
    length = 0;
  };
  from.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) flush([chunk.subarray(0, end)]);
    if (end < chunk.length) {
      begun.push(chunk.subarray(end));
      length += chunk.length - end;
    }
    if (length > LONGEST) flush([Buffer.of(LINE_FEED)]);
  });
  from.on('error', () => undefined);
  return new Promise((resolve) => {
    from.once('close', () => {
      if (length > 0) flush([Buffer.of(LINE_FEED)]);
      resolve();
    });
  });
}
