import { channel } from 'node:diagnostics_channel';

/** A span context as defined by `@opentelemetry/api` 1.x. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

interface Api {
  readonly context?: { active(): { getValue(key: symbol): unknown } };
}

/** Where every copy of `@opentelemetry/api` 1.x registers its API, and the key of a context's span. */
const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** OpenTelemetry's undici instrumentation subscribes to this channel, and adds its own trace fields to each request. */
const upstreamRequests = channel('undici:request:create');

/**
 * The active span of an OpenTelemetry that the operator has loaded (`NODE_OPTIONS`), as a traceparent; undefined if
 * there is none. OpenTelemetry is not a dependency of ours: its API is found through global symbols.
 */
export function activeTraceparent(): string | undefined {
  const api = (globalThis as { [API]?: Api })[API];
  if (api?.context === undefined) return undefined;
  const span = api.context.active().getValue(SPAN) as { spanContext?(): SpanContext } | undefined;
  const given = span?.spanContext?.();
  if (given === undefined || !TRACE_ID.test(given.traceId) || !SPAN_ID.test(given.spanId)) return undefined;
  return `00-${given.traceId}-${given.spanId}-0${given.traceFlags & 1}`;
}

/**
 * Whether OpenTelemetry adds its own fields to requests to upstreams. With ours there would be two traceparents, and
 * neither would count.
 */
export function addsTraceFields(): boolean {
  return upstreamRequests.hasSubscribers;
}
