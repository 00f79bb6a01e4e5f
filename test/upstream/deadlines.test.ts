import { expect, it } from 'vitest';
import { Deadlines, type Waiting } from '../../src/upstream/http1/deadlines.ts';

let expired: string[] = [];

function waiting(name: string): Waiting {
  return { expired: () => expired.push(name), deadline: 0, earlier: undefined, later: undefined };
}

/** Three that expire 100 ms after 0, 10 and 20 ms. */
function threeSet() {
  expired = [];
  const deadlines = new Deadlines(100);
  const [first, second, third] = [waiting('first'), waiting('second'), waiting('third')] as const;
  for (const [at, one] of [first, second, third].entries()) deadlines.set(one, at * 10);
  return { deadlines, first, second, third };
}

it('expire in order, each at its time and once', () => {
  const { deadlines } = threeSet();
  deadlines.expire(99);
  expect(expired).toEqual([]);
  deadlines.expire(110);
  expect(expired).toEqual(['first', 'second']);
  deadlines.expire(1000);
  deadlines.expire(2000);
  expect(expired).toEqual(['first', 'second', 'third']);
});

it.each(['first', 'second', 'third'] as const)('go on without the %s, however often it is cleared', (name) => {
  const all = threeSet();
  all.deadlines.clear(all[name]);
  all.deadlines.clear(all[name]);
  all.deadlines.set(waiting('fourth'), 30);
  all.deadlines.expire(1000);
  expect(expired).toEqual(['first', 'second', 'third', 'fourth'].filter((one) => one !== name));
});

it('can be set again after they were cleared or have expired', () => {
  const { deadlines, first } = threeSet();
  deadlines.clear(first);
  deadlines.set(first, 30);
  deadlines.expire(125);
  expect(expired).toEqual(['second', 'third']);
  deadlines.expire(130);
  deadlines.set(first, 200);
  deadlines.expire(299);
  expect(expired).toEqual(['second', 'third', 'first']);
  deadlines.expire(300);
  expect(expired).toEqual(['second', 'third', 'first', 'first']);
});
