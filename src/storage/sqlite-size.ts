import { stat } from 'node:fs/promises';

/** Bytes that a database takes on the disk, with what is written and not yet in its file. In: the path of its file. */
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
