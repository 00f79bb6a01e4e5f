import { type RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import type { RequestInFlight, RequestsInFlight } from '../http/requests-in-flight.ts';
import { createMeters, type Meters, type Read } from './meters.ts';
import { createPartMetrics, type PartMetrics } from './part-metrics.ts';
import { type MetricSources, registerStateMetrics } from './state-metrics.ts';

export type { MetricSources } from './state-metrics.ts';

type Readers = 'exposition' | 'values' | 'latencies';

export interface Metrics extends Omit<PartMetrics, 'oauthError'>, Pick<Meters, Readers> {
  /** A request is over. `status` is 0 when none was sent. */
  ended(record: RequestRecord, status: number, milliseconds: number): void;
  /** An upstream answered a call made by the gate itself. `milliseconds` runs until the head of the response. */
  called(upstream: string, status: number, milliseconds: number): void;
  /** An upstream could not be reached, or did not respond in time. */
  unanswered(upstream: string): void;
  /** Delivery of events to the backend. */
  readonly events: {
    delivered(type: string): void;
    failed(reason: string): void;
    dropped(type: string, why: string): void;
  };
  /** The store failed, for a request or for the gate itself. */
  storeFailed(): void;
  /** One turn of the event loop took this long, more than the allowed 50 ms. */
  loopBlocked(milliseconds: number): void;
}

/** RFC 9110 section 9.3 and RFC 5789. A client can invent any other method; these share the label `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * The metrics of the gate. Labels are route patterns, upstream names, known methods, statuses and our own codes.
 * Clients cannot choose any of them, so the configuration bounds the number of series.
 */
export function createMetrics(options: MetricSources): Metrics {
  const meters = createMeters();
  const parts = createPartMetrics(meters);
  registerStateMetrics(meters, options);
  const store = meters.counter('coursegate_store_failures_total', 'Failed store operations.');
  const blocked = meters.histogram(
    'coursegate_event_loop_blocked_seconds',
    'Turns of the event loop that took more than 50 ms: no request is served during such a turn.',
    [0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  return {
    ...parts,
    ...requestMetrics(meters, parts.oauthError, options.inFlight),
    events: eventMetrics(meters),
    storeFailed: () => store.inc(),
    loopBlocked: (milliseconds) => blocked.observe(milliseconds / 1000),
    exposition: meters.exposition,
    values: meters.values,
    latencies: meters.latencies,
  };
}

/** Metrics of requests, and of what upstreams answer. */
function requestMetrics(
  meters: Meters,
  oauthError: PartMetrics['oauthError'],
  inFlight: RequestsInFlight,
): Pick<Metrics, 'ended' | 'called' | 'unanswered'> {
  const requests = meters.latency(
    'coursegate_http_request_duration_seconds',
    'Requests by route, method, status and verdict, from the request head to the end of the response. Status 0: no response was sent.',
    ['route', 'method', 'status', 'verdict'],
  );
  const upstreams = meters.latency(
    'coursegate_upstream_response_seconds',
    'Upstream responses by upstream, route and status passed on, from sending the request to the response head.',
    ['upstream', 'route', 'status'],
  );
  const unanswered = meters.counter(
    'coursegate_upstream_failures_total',
    'Requests and own calls that an upstream did not answer: it could not be reached, or did not respond in time.',
    ['upstream'],
  );
  const ended = meters.latency(
    'coursegate_event_stream_duration_seconds',
    'Event streams that have ended, by route and verdict. They are requests too.',
    ['route', 'verdict'],
  );
  const refusals = meters.counter(
    'coursegate_refusals_total',
    'Requests refused at the gate, by the error in the challenge; no_token for requests without a token.',
    ['reason'],
  );
  const failures = meters.counter('coursegate_failures_total', 'Requests that failed, by the code of the failure.', [
    'code',
  ]);
  const count = (counts: (request: RequestInFlight) => boolean) => inFlight.all.filter(counts).length;
  meters.gauge('coursegate_requests_in_flight', 'Requests in progress, including open streams.', () =>
    count(({ record }) => record !== undefined),
  );
  const streams: Read = () => [
    [{ kind: 'sse' }, count(({ record }) => record?.streaming === true)],
    [{ kind: 'websocket' }, count(({ tunnelStatus }) => tunnelStatus === 101)],
  ];
  meters.gauge('coursegate_open_streams', 'Event streams and WebSockets that are open.', streams, ['kind']);

  return {
    ended(record, status, milliseconds) {
      const method = METHODS.has(record.method) ? record.method : 'other';
      requests.observe(milliseconds, record.route, method, status, record.outcome);
      if (record.upstreamMilliseconds >= 0)
        upstreams.observe(record.upstreamMilliseconds, record.upstream, record.route, status);
      if (record.streaming) ended.observe(milliseconds, record.route, record.outcome);
      if (record.oauthError !== '') oauthError(record.route, record.oauthError);
      else if (record.outcome === 'refused') refusals.inc({ reason: record.reason });
      if (record.outcome === 'failed') failures.inc({ code: record.reason });
    },
    called: (upstream, status, milliseconds) => upstreams.observe(milliseconds, upstream, ROUTE_LABELS.own, status),
    unanswered: (upstream) => unanswered.inc({ upstream }),
  };
}

function eventMetrics({ counter }: Meters): Metrics['events'] {
  const delivered = counter('coursegate_events_delivered_total', 'Events accepted by the backend, by type.', ['type']);
  const failed = counter(
    'coursegate_events_failed_total',
    'Failed attempts to deliver an event, by status or failure code.',
    ['reason'],
  );
  const dropped = counter(
    'coursegate_events_dropped_total',
    'Lost events: old if not accepted within three days; full if more than 10,000 were waiting.',
    ['type', 'why'],
  );
  return {
    delivered: (type) => delivered.inc({ type }),
    failed: (reason) => failed.inc({ reason }),
    dropped: (type, why) => dropped.inc({ type, why }),
  };
}
