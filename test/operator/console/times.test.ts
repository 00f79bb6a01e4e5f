import { describe, expect, it } from 'vitest';
import { createTimes } from '../../../src/operator/console/kit/times.ts';

describe('the times of the console', () => {
  const AT = Date.UTC(2026, 10, 23, 13, 5, 9);
  const times = (passed = 0) => createTimes('Europe/Berlin', () => AT + passed);

  it('are in the time zone of the site, and say so where the day is not the current one', () => {
    expect(times().time(AT)).toBe('14:05');
    expect(times().dayAndTime(AT)).toBe('23 Nov, 14:05');
    const marked = (text: string) => `<time datetime="2026-11-23T13:05:09.000Z">${text}</time>`;
    expect(times().second(AT).text).toBe(marked('14:05:09'));
    expect(times().date(AT).text).toBe(marked('23 Nov 2026'));
    expect(times().moment(AT).text).toBe(marked('23 Nov 2026, 14:05 CET'));
  });

  it.each([
    [59_000, 'just now'],
    [60_000, '1 minute ago'],
    [7_199_000, '1 hour ago'],
    [-172_800_000, 'in 2 days'],
    [400 * 86_400_000, '1 year ago'],
  ])('%d ms after something are “%s”', (passed, text) => {
    expect(times(passed).ago(AT).text).toBe(
      `<time datetime="2026-11-23T13:05:09.000Z" title="23 Nov 2026, 14:05 CET">${text}</time>`,
    );
    expect(times(passed).both(AT).text).toContain(`14:05 CET</time> <span class="muted">(${text})</span>`);
  });
});

describe('the value of a field for a time', () => {
  const { field, parse } = createTimes('Europe/Berlin', () => 0);

  it.each([
    ['2026-11-23T14:05', '2026-11-23T13:05:00.000Z'],
    ['2026-07-01T00:00', '2026-06-30T22:00:00.000Z'],
    ['2026-03-29T01:59', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T01:59', '2026-10-24T23:59:00.000Z'],
    ['2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
  ])('%s in Berlin is %s', (text, at) => {
    expect(new Date(parse(text) ?? 0).toISOString()).toBe(at);
    expect(field(Date.parse(at))).toBe(text);
  });

  it('is a time beside the hour that daylight saving takes, and none for any other text', () => {
    expect(field(parse('2026-03-29T02:30') ?? 0)).toBe('2026-03-29T03:30');
    for (const text of ['', '10:40', '2026-11-23', '2026-13-01T00:00', '1026-11-23T14:05', '2026-11-23T14:05:00Z'])
      expect(parse(text)).toBeUndefined();
  });
});

describe('the ticks of a time axis', () => {
  it('are at full hours of the site, even where those are at half of the hour in UTC', () => {
    const from = Date.UTC(2026, 10, 23, 14);
    const ticks = createTimes('Asia/Kathmandu', () => 0).ticks(from, from + 9 * 3_600_000, 180);
    expect(ticks.map(({ at, label }) => [new Date(at).toISOString().slice(11, 16), label])).toEqual([
      ['15:15', '21:00'],
      ['18:15', '24 Nov'],
      ['21:15', '03:00'],
    ]);
  });

  it('skip the hour that daylight saving takes', () => {
    const from = Date.UTC(2026, 2, 28, 23);
    expect(
      createTimes('Europe/Berlin', () => 0)
        .ticks(from, from + 3 * 3_600_000, 60)
        .map(({ label }) => label),
    ).toEqual(['29 Mar', '01:00', '03:00', '04:00']);
  });
});
