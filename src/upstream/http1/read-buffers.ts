/** Bytes that are read at once. */
const LARGEST_READ = 64 * 1024;
/** Below this many bytes a chunk has memory of its own: a large buffer for it would be mostly empty. */
const SMALLEST_POOLED = 16 * 1024;
/** Buffers that are kept: 4 MiB. */
const MOST_KEPT = 64;

/**
 * The buffer that every connection reads into. All bytes are used or copied before the read callback returns, and no two
 * callbacks run at a time. So thousands of idle event streams need no buffers.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(LARGEST_READ);

/** A part of a body with memory of its own. */
export interface Chunk {
  readonly bytes: Buffer;
  /** Gives the memory back; undefined if it is not pooled. Must not be called while the bytes are still used. */
  readonly release: (() => void) | undefined;
}

const free: Buffer[] = [];

/**
 * Copies bytes out of the read buffer. Large chunks are pooled: their memory counts as external, and allocating it for
 * each read would cause major garbage collections.
 */
export function copyOut(bytes: Buffer, from: number, to: number): Chunk {
  const size = to - from;
  if (size < SMALLEST_POOLED || size > LARGEST_READ) {
    const own = Buffer.allocUnsafe(size);
    bytes.copy(own, 0, from, to);
    return { bytes: own, release: undefined };
  }
  const whole = free.pop() ?? Buffer.allocUnsafeSlow(LARGEST_READ);
  bytes.copy(whole, 0, from, to);
  // A second call must not free a buffer that is in use again: that would show one response to the client of another.
  let isReleased = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    if (free.length < MOST_KEPT) free.push(whole);
  };
  return { bytes: whole.subarray(0, size), release };
}
