import { stat } from 'node:fs/promises';

/** Bytes that a database uses on disk, including its write-ahead log. */
export async function bytesOf(path: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal', '-shm'].map((end) =>
      stat(path + end).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
