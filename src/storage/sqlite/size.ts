import { stat } from 'node:fs/promises';

/** Bytes that a database uses on disk, including its write-ahead log. */
export async function bytesOf(path: string): Promise<number> {
  const parts = ['', '-wal', '-shm'].map((end) => stat(path + end).catch(() => ({ size: 0 })));
  return (await Promise.all(parts)).reduce((sum, { size }) => sum + size, 0);
}
