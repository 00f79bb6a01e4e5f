import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import budgets from '../../bench/budgets.json' with { type: 'json' };
import { type Parts, setups, storedPerApp, withCapacity } from '../../bench/capacity/model.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const parts = JSON.parse(read('bench/capacity/parts.json')) as Parts;

/** Every operation costs a millisecond of the gate and half of Redis, and every record has 1,000 bytes. */
const costs = (gate: number, redis: number) => {
  const cost = { gate, redis };
  return { request: cost, refresh: cost, signIn: cost, introspection: cost };
};
const bytes = {
  Client: 1000,
  RegistrationAccessToken: 1000,
  Member: 1000,
  Grant: 1000,
  RefreshToken: 1000,
  AccessToken: 1000,
};
const ROUND: Parts = {
  conditions: '',
  objections: [],
  bytes: { sqlite: bytes, redis: bytes },
  cpu: { sqlite: costs(1000, 0), redis: costs(1000, 500) },
  syncs: { refresh: 1, signIn: 9 },
  syncTime: 1,
  connection: 50,
  stream: 200,
};

describe('the capacity that docs/scaling.md states', () => {
  it('is what follows from the measured parts', () => {
    const page = read('docs/scaling.md');
    expect(withCapacity(page, parts)).toBe(page);
  });

  it('has room for each app within its budget', () => {
    expect(storedPerApp(parts.bytes.sqlite)).toBeLessThanOrEqual(budgets.bytesInSqlite.most);
    expect(storedPerApp(parts.bytes.redis)).toBeLessThanOrEqual(budgets.bytesInRedis.most);
  });

  it('is what a calculation by hand gives', () => {
    // Per app and day: 20 requests, 2 refreshes, 1/90 sign-in, 1 introspection; four times as many at the busiest time.
    const perSecond = ((20 + 2 + 1 / 90 + 1) * 4) / 86_400;
    const syncs = ((2 + 9 / 90) * 4) / 86_400;
    const [alone, machine, redis] = setups(ROUND).map(
      ({ limits }) => new Map(limits.map((one) => [one.what, one.apps])),
    );
    expect(alone?.get("the gate's core")).toBeCloseTo(0.6 / (perSecond * 0.001), 3);
    expect(alone?.get('fsync of the disk')).toBeCloseTo(0.6 / (syncs * 0.001), 3);
    // 2 % of the apps hold 50 KiB, 0.5 % hold 200.
    expect(alone?.get('memory of the connections')).toBeCloseTo((64 * 2 ** 30) / (2 * 1024), 3);
    expect(machine?.get('the cores of the gates')).toBeCloseTo((7 * 0.6) / (perSecond * 0.001), 3);
    expect(redis?.get('the core of Redis')).toBeCloseTo(0.6 / (perSecond * 0.0005), 3);
    // A registration and its token, a member, a grant, the refresh tokens, and at the busiest time an access token for 80
    // minutes a day: two of ten minutes, four times as many as on average.
    expect(redis?.get('the memory of Redis')).toBeCloseTo((32 * 2 ** 30) / (5000 + (1000 * 80) / 1440), 3);
  });
});
