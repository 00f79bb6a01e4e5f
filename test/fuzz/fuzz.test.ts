import fc from 'fast-check';
import { describe, it } from 'vitest';
import { answers, requests, type Sent } from './messages.ts';
import { type Stand, startStand } from './stand.ts';

/** Minutes to go on for, each round with another seed; without, one short round with a seed of its own, every time the same. */
const MINUTES = Number(process.env.COURSEGATE_FUZZ_MINUTES ?? 0);
/** To see a failure again: the seed it printed. */
const SEED = process.env.COURSEGATE_FUZZ_SEED;
const ROUND = MINUTES > 0 ? 1_000 : 60;

const plain = (path: string, method: string): Sent => ({
  bytes: `${method} ${path} HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n`,
  delivery: { cuts: [], ending: 'wait' },
});
const plainRequest = fc
  .tuple(fc.constantFrom('/public/x', '/member/x', '/x'), fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE'))
  .map(([path, method]) => plain(path, method));

const SIDES = [
  ['a client', fc.tuple(requests, fc.constant(undefined))],
  ['an upstream', fc.tuple(plainRequest, answers)],
  ['both', fc.tuple(requests, answers)],
] as const;

describe('whatever is sent by', () => {
  it.each(SIDES)(
    '%s, the gate lives, answers the next one right, and lets nothing through unjudged',
    async (side, cases) => {
      const until = Date.now() + (MINUTES / SIDES.length) * 60_000;
      let seed = SEED === undefined ? (MINUTES > 0 ? Date.now() & 0x7fffffff : 1) : Number(SEED);
      do {
        console.log(`fuzz: ${side}, seed ${seed}, ${ROUND} cases`);
        await round(cases, seed);
        seed += 1;
      } while (Date.now() < until);
    },
    (MINUTES + 2) * 60_000,
  );
});

async function round(cases: fc.Arbitrary<[Sent, Sent | undefined]>, seed: number): Promise<void> {
  let stand: Stand | undefined = await startStand();
  try {
    await fc.assert(
      fc.asyncProperty(cases, async ([client, answer]) => {
        stand ??= await startStand();
        try {
          await stand.run(client, answer);
        } catch (failure) {
          console.log(
            `fuzz: seed ${seed} failed (${(failure as Error).message.slice(0, 400)}) on ${JSON.stringify([client, answer])}`,
          );
          // The smaller case that is tried next gets a gate of its own.
          await stand.close();
          stand = undefined;
          throw failure;
        }
      }),
      { seed, numRuns: ROUND, endOnFailure: false },
    );
    await stand?.settled();
  } finally {
    await stand?.close();
  }
}
