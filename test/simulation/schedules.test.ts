import { expect, it } from 'vitest';
import { describeFailure, describeTotal } from './report.ts';
import { searchSchedules } from './search.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

const SCHEDULES = 20_000;
/** What has to happen in some of them, so that the promises say something. */
const SITUATIONS = [
  'token_answer_replayed',
  'refresh_token_reuse',
  'refresh_token_ahead',
  'code_repeated',
  'code_reuse',
  'member_suspended',
  'keys_rotated',
  'an answer is lost on its way',
  'a gate died between a commit and its answer',
  'admitted from the cache',
  'admitted after the end, from a cache of another gate',
  'failover',
  'failover with loss',
  'power loss',
  'power loss with loss',
  'a copied proof is refused',
  'the backend is told of grant.created',
  'the backend is told of grant.revoked',
  'a configuration is taken',
  'a configuration is refused',
];

it('keep every promise in twenty thousand schedules', async () => {
  const total = await searchSchedules(1, SCHEDULES, 2);
  const [broken] = total.broken;
  if (broken !== undefined) expect.fail(describeFailure(await shrink(await simulate(broken))));
  console.info(describeTotal(total));
  expect(total.schedules).toBe(SCHEDULES);
  for (const needed of SITUATIONS) expect(total.situations.get(needed) ?? 0, needed).toBeGreaterThan(10);
}, 900_000);
