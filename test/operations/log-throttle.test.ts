import { beforeEach, describe, expect, it } from 'vitest';
import { createLogThrottle } from '../../src/operations/log-throttle.ts';

describe('logging during a flood', () => {
  let now = 0;
  let told: [string, number][] = [];
  beforeEach(() => {
    now = 1_000_000;
    told = [];
  });
  const rationOf = (lines: number, apart: number) => {
    const throttled = createLogThrottle({ clock: () => now, lines, apart });
    return (key: string) => throttled(key, (suppressed) => told.push([key, suppressed]));
  };

  it('writes one line a minute per key, with the number of suppressed lines', () => {
    const tell = rationOf(100, 60_000);
    for (let times = 0; times < 50; times += 1) tell('a');
    tell('b');
    expect(told).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
    now += 59_999;
    tell('a');
    expect(told).toHaveLength(2);
    now += 1;
    tell('a');
    tell('b');
    expect(told.slice(2)).toEqual([
      ['a', 50],
      ['b', 0],
    ]);
  });

  it('writes at most the allowed number of lines per minute across all keys', () => {
    const tell = rationOf(20, 60_000);
    for (let at = 0; at < 500; at += 1) tell(`key ${at}`);
    expect(told).toHaveLength(20);
    now += 60_000;
    for (let at = 0; at < 500; at += 1) tell(`key ${at + 20}`);
    expect(told).toHaveLength(40);
    // The next line reports how many lines the cap suppressed.
    expect(told[20]).toEqual(['key 20', 1]);
  });

  it('keeps at most ten thousand keys, and never throws', () => {
    const tell = rationOf(1_000_000, 60_000);
    for (let at = 0; at < 10_000; at += 1) tell(`key ${at}`);
    tell('key 0');
    expect(told).toHaveLength(10_000);
    // One more than the maximum: all of them are dropped.
    tell('key 10000');
    tell('key 0');
    expect(told).toHaveLength(10_002);
  });

  it('resumes soon after the clock is set back', () => {
    const tell = rationOf(2, 60_000);
    for (let at = 0; at < 5; at += 1) tell(`key ${at}`);
    now -= 86_400_000;
    tell('key 0');
    tell('key 1');
    expect(told).toHaveLength(4);
  });

  it('can write every line of a key, if only the total is limited', () => {
    const tell = rationOf(3, 0);
    for (let times = 0; times < 5; times += 1) tell('a');
    expect(told).toHaveLength(3);
  });
});
