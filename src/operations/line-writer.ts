import { write } from 'node:fs';

/** In bytes: the size at which lines are written, and the memory in which they are gathered. */
const FULL = 64 * 1024;
const MEMORY = 2 * FULL;
/** How many bytes may wait for a slow reader before lines are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;
const INTERVAL = 500;
const RETRY = 20;

export type LineWriter = ReturnType<typeof createLineWriter>;

/**
 * Buffers lines and writes them to a file descriptor off the event loop, so that a reader that stops reading blocks no
 * request. Writes to a full pipe are retried; when too much is waiting, new lines are dropped and counted. `failed` is
 * called with the first error of each series of errors.
 *
 * Lines are gathered as bytes: kept as a string, its thousands of parts would be copied by each garbage collection.
 */
export function createLineWriter(descriptor: number, failed: (error: Error) => void) {
  let gathered: Buffer = Buffer.allocUnsafeSlow(MEMORY);
  let used = 0;
  let spare: Buffer | undefined;
  const full: Buffer[] = [];
  let waiting = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing = false;
  let failing = false;
  let idle: (() => void) | undefined;

  const onTimer = () => {
    timer = undefined;
    flush();
  };

  const setAside = (): void => {
    if (used === 0) return;
    full.push(gathered.subarray(0, used));
    gathered = spare ?? Buffer.allocUnsafeSlow(MEMORY);
    spare = undefined;
    used = 0;
  };

  const flush = (): void => {
    if (writing) return;
    if (full.length === 0) setAside();
    const next = full.shift();
    if (next === undefined) {
      idle?.();
      return;
    }
    writing = true;
    writeAll(next, next.length);
  };

  const writeAll = (bytes: Buffer, left: number): void => {
    const from = bytes.length - left;
    write(descriptor, bytes, from, left, null, (error, written) => {
      if (error !== null && (error.code === 'EAGAIN' || error.code === 'EINTR')) {
        setTimeout(writeAll, RETRY, bytes, left).unref();
        return;
      }
      if (error === null && written < left) {
        writeAll(bytes, left - written);
        return;
      }
      waiting -= bytes.length;
      if (error === null) failing = false;
      else {
        dropped += lineFeeds(bytes.subarray(from));
        if (!failing) failed(error);
        failing = true;
      }
      writing = false;
      if (bytes.buffer.byteLength === MEMORY) spare = Buffer.from(bytes.buffer);
      if (full.length > 0 || idle !== undefined || (used > 0 && timer === undefined)) flush();
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
      // In UTF-8, no character takes more.
      const most = 3 * line.length;
      if (most > MEMORY - used) setAside();
      if (most > MEMORY) {
        const bytes = Buffer.from(line);
        full.push(bytes);
        waiting += bytes.length;
      } else {
        const length = gathered.write(line, used);
        used += length;
        waiting += length;
      }
      if (used >= FULL || full.length > 0) flush();
      else timer ??= setTimeout(onTimer, INTERVAL).unref();
    },
    /** Number of lines dropped because the reader is too slow or gone. */
    dropped: () => dropped,
    /** Writes what is left, waiting at most two seconds. */
    async close(): Promise<void> {
      clearTimeout(timer);
      const { promise: over, resolve } = Promise.withResolvers<void>();
      idle = resolve;
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
