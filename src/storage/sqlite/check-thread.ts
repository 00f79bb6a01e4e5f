import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/**
 * Shared with the thread's creator: `done` is set to the UTF-8 length of `text`, which is `ok` or describes the damage.
 */
const { path, done, text } = workerData as { path: string; done: Int32Array<SharedArrayBuffer>; text: Uint8Array };

function check(): string {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    try {
      return String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
    } finally {
      database.close();
    }
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

const { written } = new TextEncoder().encodeInto(check(), text);
Atomics.store(done, 0, written);
Atomics.notify(done, 0);
