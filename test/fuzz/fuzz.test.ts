import fc from 'fast-check';
import { afterAll, describe, it } from 'vitest';
import { answers, requests, type Sent } from './messages.ts';
import { type Case, type Stand, startStand } from './stand.ts';

/** Minutes to go on for, each round with another seed; without, one short round with a seed of its own, every time the same. */
const MINUTES = Number(process.env.COURSEGATE_FUZZ_MINUTES ?? 0);
/** To see a failure again: the seed it printed. */
const SEED = process.env.COURSEGATE_FUZZ_SEED;
/**
 * Cases of a round, and of them at once. In the long form they are so many that an upstream is at its limit now and then,
 * and that the machine has something to do while some wait for a timeout: a thousand a second.
 */
const [ROUND, AT_ONCE] = MINUTES > 0 ? [28_000, 700] : [192, 32];

const plain = (path: string, method: string): Sent => ({
  bytes: `${method} ${path}?plain=INDEX HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n`,
  delivery: { cuts: [], ending: 'wait' },
});
const plainRequest = fc
  .tuple(fc.constantFrom('/public/x', '/member/x', '/x'), fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE'))
  .map(([path, method]) => plain(path, method));

const either = fc.boolean();
const SIDES = [
  ['a client', fc.record({ client: requests, answer: fc.constant(undefined) }), either],
  // A request that is refused would never get to see the answer.
  ['an upstream', fc.record({ client: plainRequest, answer: answers }), fc.constant(true)],
  ['both', fc.record({ client: requests, answer: answers }), either],
] as const;

let stand: Stand | undefined;
const renew = async () => {
  await stand?.close();
  stand = undefined;
};
afterAll(renew);

describe('whatever is sent by', () => {
  it.each(SIDES)(
    '%s, the gate lives, answers the next one right, and lets nothing through unjudged',
    async (side, cases, token) => {
      const until = Date.now() + (MINUTES / SIDES.length) * 60_000;
      let seed = SEED === undefined ? (MINUTES > 0 ? Date.now() & 0x7fffffff : 1) : Number(SEED);
      do {
        console.log(`fuzz: ${side}, seed ${seed}, ${ROUND} cases`);
        await round(cases, token, seed);
        seed += 1;
      } while (Date.now() < until);
    },
    (MINUTES + 2) * 60_000,
  );
});

async function round(one: fc.Arbitrary<Case>, token: fc.Arbitrary<boolean>, seed: number): Promise<void> {
  const cases = fc.array(one, { minLength: 1, maxLength: 2 * AT_ONCE - 1, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.record({ token, cases }), async (batch) => {
      stand ??= await startStand(MINUTES > 0);
      try {
        await stand.run(batch);
      } catch (failure) {
        const words = await stand.lastWords();
        console.log(`fuzz: seed ${seed} failed: ${(failure as Error).message.slice(0, 400)}\n${words}`);
        // The smaller case that is tried next gets a gate of its own.
        await renew();
        throw failure;
      }
    }),
    { seed, numRuns: ROUND / AT_ONCE, endOnFailure: MINUTES > 0 },
  );
  await stand?.settled();
  // What it printed is kept.
  if (MINUTES > 0) await renew();
}
