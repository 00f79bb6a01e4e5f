import { describe, expect, it } from 'vitest';
import type { CredentialVerdict } from '../../src/login/connector.ts';
import { evenRefusals } from '../../src/login/even-refusals.ts';

const GIVEN = { username: 'sam', password: 'x', address: '198.51.100.7' };
const WRONG: CredentialVerdict = { kind: 'wrong' };
const SLOW_DOWN: CredentialVerdict = { kind: 'slow_down', retryAfter: 9 };
const MEMBER: CredentialVerdict = {
  kind: 'member',
  member: { sub: '1', email: undefined, name: undefined, authTime: undefined, acr: undefined, version: undefined },
};

/** Milliseconds until the result is returned when the backend took `taken` milliseconds. */
async function answeredAfter(verdict: CredentialVerdict, taken: number, seconds: number): Promise<number> {
  const time = { now: 1000 };
  const check = evenRefusals(
    async () => {
      time.now += taken;
      return verdict;
    },
    seconds,
    {
      now: () => time.now,
      wait: async (milliseconds) => {
        time.now += milliseconds;
      },
    },
  );
  expect(await check(GIVEN)).toBe(verdict);
  return time.now - 1000;
}

describe('the response to a refused sign-in', () => {
  it.each([
    [1, 500],
    [499, 500],
    [500, 500],
    [501, 1000],
    [1700, 2000],
  ])('that took %i ms is sent after %i', async (taken, after) => {
    expect(await answeredAfter(WRONG, taken, 0.5)).toBe(after);
    expect(await answeredAfter(SLOW_DOWN, taken, 0.5)).toBe(after);
  });

  it('is sent at once when no time is set', async () => {
    expect(await answeredAfter(WRONG, 7, 0)).toBe(7);
  });
});

describe('the response to a correct sign-in', () => {
  it('is not delayed', async () => {
    expect(await answeredAfter(MEMBER, 7, 0.5)).toBe(7);
  });
});
