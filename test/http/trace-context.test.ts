import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it } from 'vitest';
import { activeTraceparent } from '../../src/http/open-telemetry.ts';
import { createProvenance } from '../../src/http/provenance.ts';
import {
  continuedTraceparent,
  isTraceparent,
  isTracestate,
  newTraceparent,
  traceIdOf,
} from '../../src/http/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('traceparent (W3C Trace Context section 3.2)', () => {
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
  ])('%s is valid: %s', (value, expected) => {
    expect(isTraceparent(value)).toBe(expected);
  });

  it('a new one is valid, sampled and unique', () => {
    const made = Array.from({ length: 100 }, newTraceparent);
    for (const one of made) expect(one).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(made.every(isTraceparent)).toBe(true);
    expect(new Set(made.map((one) => one.slice(3, 35))).size).toBe(100);
    expect(new Set(made.map((one) => one.slice(36, 52))).size).toBe(100);
  });

  it.each([
    ['00', '01', '01'],
    ['00', '00', '00'],
    // Trace Context Level 2: the random-trace-id flag is passed on, undefined flags are not.
    ['00', '03', '03'],
    ['00', 'ff', '03'],
    ['cc', '03', '01'],
    ['cc', '02', '00'],
  ])(
    'of version %s with flags %s is continued as version 00 with a new parent and flags %s',
    (version, flags, sent) => {
      const parent = `${version}-${TRACE}-b7ad6b7169203331-${flags}${version === '00' ? '' : '-more'}`;
      const made = Array.from({ length: 100 }, () => continuedTraceparent(parent));
      for (const one of made) expect(one).toMatch(new RegExp(`^00-${TRACE}-(?!b7ad6b7169203331)[0-9a-f]{16}-${sent}$`));
      expect(new Set(made).size).toBe(100);
      expect(traceIdOf(parent)).toBe(TRACE);
    },
  );
});

it.each([
  ['vendor=opaque,other=1', true],
  ['', false],
  [' , ', false],
  ['x'.repeat(513), false],
  ['a=\x80', false],
  ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', true],
  ['tenant@vendor=1, other=2 ,', true],
  ['0tenant@vendor=1', true],
  ['0vendor=1', false],
  ['Vendor=1', false],
  ['vendor', false],
  ['vendor=', false],
  ['vendor=a=b', false],
  ['a=1,a=2', false],
  [`a=${'x'.repeat(256)}`, true],
  [`a=${'x'.repeat(257)}`, false],
  [Array.from({ length: 32 }, (_, at) => `k${at}=1`).join(','), true],
  [Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(','), false],
])('tracestate %j is valid: %s', (value, expected) => {
  expect(isTracestate(value)).toBe(expected);
});

describe('with an OpenTelemetry that the operator has loaded', () => {
  /** The API as prom-client finds it; it is not a dependency of ours. */
  const promClient = createRequire(import.meta.url).resolve('prom-client');
  const { context, ROOT_CONTEXT, trace } = createRequire(promClient)('@opentelemetry/api');
  afterEach(() => context.disable());

  const inSpan = (spanContext: object | undefined) => {
    const active = spanContext === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext);
    context.setGlobalContextManager({ active: () => active, disable: () => undefined });
  };

  it.each([
    [1, '01'],
    [0, '00'],
    [3, '01'],
  ])('the traceparent is that of the active span; its flags %s are sent as %s', (traceFlags, sent) => {
    inSpan({ traceId: TRACE, spanId: 'b7ad6b7169203331', traceFlags });
    expect(activeTraceparent()).toBe(`00-${TRACE}-b7ad6b7169203331-${sent}`);
  });

  it.each([
    ['no API', undefined],
    ['no active span', () => inSpan(undefined)],
    ['a span without a trace', () => inSpan({ traceId: '0'.repeat(32), spanId: 'b7ad6b7169203331', traceFlags: 1 })],
    ['a trace without a span', () => inSpan({ traceId: TRACE, spanId: '0'.repeat(16), traceFlags: 1 })],
  ])('there is none with %s', (_with, begin) => {
    begin?.();
    expect(activeTraceparent()).toBeUndefined();
  });
});

describe('a request id', () => {
  it('is a UUID of its own', () => {
    const provenanceOf = createProvenance({ trustedProxies: [] });
    const request = { socket: { remoteAddress: '192.0.2.1' }, headers: {} } as IncomingMessage;
    const ids = Array.from({ length: 2000 }, () => provenanceOf(request).requestId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(2000);
    // No digit is always the same, apart from the version and the variant.
    const digits = [...(ids[0] as string)].map((_, at) => new Set(ids.map((id) => id[at])).size);
    expect(digits.filter((kinds) => kinds === 16)).toHaveLength(30);
  });
});
