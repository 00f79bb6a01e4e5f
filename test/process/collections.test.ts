import { expect, it } from 'vitest';
import budgets from '../../bench/budgets.json' with { type: 'json' };
import { collectionsUnder } from '../../bench/process/collections.ts';

/**
 * Bytes per request that V8 may move to the old generation. Nothing of a request outlives it, so what is moved are the
 * requests that happen to be in flight when V8 collects. A `Set` of them made it thousands of bytes.
 */
const PROMOTED = 600;

it('moves next to nothing of finished requests to the old generation', { timeout: 300_000 }, async () => {
  const { allocated, promoted, scavenges } = await collectionsUnder(10_000);
  expect(scavenges).toBeGreaterThan(5);
  expect(promoted).toBeLessThan(PROMOTED);
  expect(allocated, '`npm run bench -- compare REV --only allocated` says by what').toBeLessThan(
    budgets.bytesOfRequest.most,
  );
});
