import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Computes phpass's portable hash: MD5 iterated 2^cost times, with a salt of 8 characters. The result has 16 bytes.
 */
const { password, hash } = workerData as { password: string; hash: { cost: number; salt: string } };

const md5 = (...parts: (string | Buffer)[]): Buffer => {
  const digest = createHash('md5');
  for (const part of parts) digest.update(part);
  return digest.digest();
};

let bytes = md5(hash.salt, password);
for (let round = 0; round < 2 ** hash.cost; round += 1) bytes = md5(bytes, password);
parentPort?.postMessage(Uint8Array.from(bytes));
