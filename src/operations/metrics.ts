import { type RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import type { RequestInFlight, RequestList } from '../http/requests-in-flight.ts';
import { createMeters, type Meters } from './meters.ts';
import { createPartMetrics } from './part-metrics.ts';
import { type MetricSources, registerStateMetrics } from './state-metrics.ts';

export type { MetricSources } from './state-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** RFC 9110 section 9.3 and RFC 5789. A client can invent any other method; these share the label `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * RFC 6749 and related specifications define about twenty. Anything else is counted as `other`, so that a bug cannot
 * create any number of series.
 */
const ERROR = /^[a-z_]{1,40}$/;
const MOST_ERRORS = 64;

/**
 * The metrics of the gate. Labels are route patterns, upstream names, known methods, statuses and our own codes.
 * Clients cannot choose any of them, so the configuration bounds the number of series.
 */
export function createMetrics(options: MetricSources) {
  const meters = createMeters();
  const { exposition, own, values, latencies } = meters;
  registerStateMetrics(meters, options);
  const store = meters.counter('coursegate_store_failures_total');
  const misdirected = meters.counter('coursegate_misdirected_requests_total');
  const blocked = meters.histogram('coursegate_event_loop_blocked_seconds', [0.1, 0.25, 0.5, 1, 2.5, 5]);
  return {
    ...{ exposition, own, values, latencies },
    ...createPartMetrics(meters),
    ...requestMetrics(meters, options.inFlight),
    /** Delivery of events to the backend. */
    events: eventMetrics(meters),
    /** The store failed, for a request or for the gate itself. */
    storeFailed: () => store.inc(),
    /** A request was for a host that no school has. */
    misdirected: () => misdirected.inc(),
    /** One turn of the event loop took this long, more than the allowed 50 ms. */
    loopBlocked: (milliseconds: number) => blocked.observe(milliseconds / 1000),
  };
}

/** Metrics of requests, and of what upstreams answer. */
function requestMetrics({ counter, gauge, latency }: Meters, inFlight: RequestList) {
  const requests = latency('coursegate_http_request_duration_seconds', ['route', 'method', 'status', 'verdict']);
  const upstreams = latency('coursegate_upstream_response_seconds', ['upstream', 'route', 'status']);
  const unanswered = counter('coursegate_upstream_failures_total', ['upstream']);
  const streamed = latency('coursegate_event_stream_duration_seconds', ['route', 'verdict']);
  const errors = counter('coursegate_oauth_errors_total', ['endpoint', 'error']);
  const refusals = counter('coursegate_refusals_total', ['reason']);
  const failures = counter('coursegate_failures_total', ['code']);
  const errorsSeen = new Set<string>();
  const count = (counts: (request: RequestInFlight) => boolean) => inFlight.all.filter(counts).length;
  gauge('coursegate_requests_in_flight', () => count(({ record }) => record !== undefined));
  gauge(
    'coursegate_open_streams',
    () => [
      [{ kind: 'sse' }, count(({ record }) => record?.streaming === true)],
      [{ kind: 'websocket' }, count(({ tunnelStatus }) => tunnelStatus === 101)],
    ],
    ['kind'],
  );

  const oauthError = (endpoint: string, error: string) => {
    const known = errorsSeen.has(error) || (ERROR.test(error) && errorsSeen.size < MOST_ERRORS);
    if (known) errorsSeen.add(error);
    errors.inc({ endpoint, error: known ? error : 'other' });
  };
  return {
    /** A request is over. `status` is 0 when none was sent. */
    ended(record: RequestRecord, status: number, milliseconds: number): void {
      const method = METHODS.has(record.method) ? record.method : 'other';
      requests.observe(milliseconds, record.route, method, status, record.outcome);
      if (record.upstreamMilliseconds >= 0)
        upstreams.observe(record.upstreamMilliseconds, record.upstream, record.route, status);
      if (record.streaming) streamed.observe(milliseconds, record.route, record.outcome);
      if (record.oauthError !== '') oauthError(record.route, record.oauthError);
      else if (record.outcome === 'refused') refusals.inc({ reason: record.reason });
      if (record.outcome === 'failed') failures.inc({ code: record.reason });
    },
    /** An upstream answered a call made by the gate itself. `milliseconds` runs until the head of the response. */
    called: (upstream: string, status: number, milliseconds: number) =>
      upstreams.observe(milliseconds, upstream, ROUTE_LABELS.own, status),
    /** An upstream could not be reached, or did not respond in time. */
    unanswered: (upstream: string) => unanswered.inc({ upstream }),
  };
}

function eventMetrics({ counter }: Meters) {
  const delivered = counter('coursegate_events_delivered_total', ['type']);
  const failed = counter('coursegate_events_failed_total', ['reason']);
  const dropped = counter('coursegate_events_dropped_total', ['type', 'why']);
  return {
    delivered: (type: string) => delivered.inc({ type }),
    failed: (reason: string) => failed.inc({ reason }),
    dropped: (type: string, why: string) => dropped.inc({ type, why }),
  };
}
