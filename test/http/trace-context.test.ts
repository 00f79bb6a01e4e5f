import { describe, expect, it } from 'vitest';
import { isTraceparent, isTracestate, newTraceparent } from '../../src/http/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('traceparent (W3C Trace Context §3.2)', () => {
  it.each([
    [`00-${TRACE}-b7ad6b7169203331-01`, true],
    [`00-${TRACE}-b7ad6b7169203331-00`, true],
    [`cc-${TRACE}-b7ad6b7169203331-01-what-the-future-brings`, true],
    [`00-${TRACE}-b7ad6b7169203331-01-more`, false],
    [`ff-${TRACE}-b7ad6b7169203331-01`, false],
    [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`, false],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
    [`00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`, false],
    [`00-${TRACE}-b7ad6b7169203331`, false],
    [`00-${TRACE}-b7ad6b7169203331-01, 00-${TRACE}-b7ad6b7169203331-01`, false],
    [`cc-${TRACE}-b7ad6b7169203331-01-${'x'.repeat(300)}`, false],
    ['', false],
  ])('%s: %s', (value, expected) => {
    expect(isTraceparent(value)).toBe(expected);
  });

  it('a new one is valid, sampled, and not the last one', () => {
    const made = Array.from({ length: 100 }, newTraceparent);
    for (const one of made) expect(one).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(made.every(isTraceparent)).toBe(true);
    expect(new Set(made.map((one) => one.slice(3, 35))).size).toBe(100);
    expect(new Set(made.map((one) => one.slice(36, 52))).size).toBe(100);
  });
});

it.each([
  ['vendor=opaque,other=1', true],
  ['', false],
  ['x'.repeat(513), false],
  ['a=\x80', false],
])('tracestate %j: %s', (value, expected) => {
  expect(isTracestate(value)).toBe(expected);
});
