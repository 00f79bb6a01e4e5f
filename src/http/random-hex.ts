import { randomFillSync } from 'node:crypto';

const STOCK = 4096;
const stock = Buffer.alloc(STOCK);
let used = STOCK;

/**
 * Returns `bytes` random bytes in lower-case hexadecimal, from a buffer that is filled in one call for hundreds of
 * requests.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > STOCK) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.toString('hex', used - bytes, used);
}
