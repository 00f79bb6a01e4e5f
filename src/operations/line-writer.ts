import { write } from 'node:fs';

/**
 * In characters: the size at which the buffer is written, and how much may wait for a slow reader before lines are
 * dropped.
 */
const FULL = 64 * 1024;
const MOST_WAITING = 8 * 1024 * 1024;
/** Characters that fit into the memory that is used again for each write: three bytes each at most. */
const USUAL = 2 * FULL;
const INTERVAL = 500;
const RETRY = 20;

/**
 * Buffers lines and writes them to a file descriptor off the event loop, so that a reader that stops reading blocks no
 * request. Writes to a full pipe are retried; when too much is waiting, new lines are dropped and counted. `failed` is
 * called with the first error of each series of errors.
 */
export function createLineWriter(descriptor: number, failed: (error: Error) => void) {
  let gathered = '';
  let pieces: string[] = [];
  let waiting = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing = false;
  let failing = false;
  let idle: (() => void) | undefined;
  const memory = Buffer.allocUnsafeSlow(3 * USUAL);

  const onTimer = () => {
    timer = undefined;
    flush();
  };

  const flush = (): void => {
    if (gathered !== '') {
      pieces.push(gathered);
      gathered = '';
    }
    if (writing) return;
    if (pieces.length === 0) {
      idle?.();
      return;
    }
    writing = true;
    const text = pieces.length === 1 ? (pieces[0] as string) : pieces.join('');
    pieces = [];
    // Only one write is under way at a time.
    const bytes = text.length > USUAL ? Buffer.from(text) : memory.subarray(0, memory.write(text));
    writeAll(bytes, text.length);
  };

  const writeAll = (bytes: Buffer, characters: number): void => {
    write(descriptor, bytes, (error, written) => {
      if (error !== null && (error.code === 'EAGAIN' || error.code === 'EINTR')) {
        setTimeout(writeAll, RETRY, bytes, characters).unref();
        return;
      }
      if (error === null && written < bytes.length) {
        writeAll(bytes.subarray(written), characters);
        return;
      }
      waiting -= characters;
      if (error === null) failing = false;
      else {
        dropped += lineFeeds(bytes);
        if (!failing) failed(error);
        failing = true;
      }
      writing = false;
      if (pieces.length > 0 || idle !== undefined) flush();
    });
  };

  return {
    /**
     * Takes one or more lines, each with its line feed. They are written within 500 ms, or sooner when the buffer is
     * full.
     */
    write(line: string): void {
      if (waiting + line.length > MOST_WAITING) {
        dropped += lineFeeds(Buffer.from(line));
        return;
      }
      gathered += line;
      waiting += line.length;
      if (gathered.length >= FULL) flush();
      else timer ??= setTimeout(onTimer, INTERVAL).unref();
    },
    /** Number of lines dropped because the reader is too slow or gone. */
    dropped: () => dropped,
    /** Writes what is left, waiting at most two seconds. */
    async close(): Promise<void> {
      clearTimeout(timer);
      const over = new Promise<void>((resolve) => {
        idle = resolve;
      });
      const late = setTimeout(() => idle?.(), 2_000);
      flush();
      await over;
      clearTimeout(late);
    },
  };
}

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
