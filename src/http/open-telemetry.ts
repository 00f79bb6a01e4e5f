import { channel } from 'node:diagnostics_channel';

/** A span of OpenTelemetry's, as `@opentelemetry/api` 1.x describes it. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

interface Api {
  readonly context?: { active(): { getValue(key: symbol): unknown } };
}

/** Where every copy of `@opentelemetry/api` 1.x keeps what was registered, and under which key a context has its span. */
const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** Its instrumentation of undici hears of each request there, and adds the fields of its own span to it. */
const upstreamRequests = channel('undici:request:create');

/**
 * The span that an OpenTelemetry of the operator's (`NODE_OPTIONS`) has begun for the request that is being read, as a
 * traceparent; undefined: there is none. Nothing of it is a dependency of ours: this is what its API leaves for all.
 */
export function activeTraceparent(): string | undefined {
  const api = (globalThis as { [API]?: Api })[API];
  if (api?.context === undefined) return undefined;
  const span = api.context.active().getValue(SPAN) as { spanContext?(): SpanContext } | undefined;
  const given = span?.spanContext?.();
  if (given === undefined || !TRACE_ID.test(given.traceId) || !SPAN_ID.test(given.spanId)) return undefined;
  return `00-${given.traceId}-${given.spanId}-0${given.traceFlags & 1}`;
}

/** Whether it adds its own fields to what is sent to an upstream: ours would be a second traceparent, and none count then. */
export function addsTraceFields(): boolean {
  return upstreamRequests.hasSubscribers;
}
