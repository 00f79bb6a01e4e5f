import { describe, expect, it } from 'vitest';
import { slopeOf } from '../../bench/soak/slope.ts';

/** Minutes of an hour, in hours, with what was measured then. */
const hour = (value: (hours: number, at: number) => number) =>
  Array.from({ length: 240 }, (_, at): readonly [number, number] => [at / 240, value(at / 240, at)]);

describe('the slope of a soak', () => {
  it('is that of a line, with no margin', () => {
    const { slope, margin } = slopeOf(hour((hours) => 50 + 3 * hours));
    expect(slope).toBeCloseTo(3, 9);
    expect(margin).toBeLessThan(1e-9);
  });

  it('holds what grows under noise that goes to and fro, within its margin', () => {
    const { slope, margin } = slopeOf(hour((hours, at) => 50 + 2 * hours + Math.sin(at * 1.7) + Math.cos(at / 9)));
    expect(margin).toBeGreaterThan(0.05);
    expect(Math.abs(slope - 2)).toBeLessThan(margin);
  });

  it('is nothing where nothing grows, though the first and the last are far apart', () => {
    const { slope, margin } = slopeOf(hour((_hours, at) => 50 + (at === 239 ? 20 : 0)));
    expect(Math.abs(slope)).toBeLessThan(margin);
  });
});
