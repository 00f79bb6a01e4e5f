import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { type RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import type { Clock } from '../storage/store.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { createPartMetrics, type PartMetrics } from './part-metrics.ts';
import { registerReloadMetrics } from './reload-metrics.ts';
import type { ReloadState } from './reloads.ts';

export interface Metrics extends Omit<PartMetrics, 'oauthError'> {
  /** A request has arrived. */
  began(record: RequestRecord): void;
  /** A request is over. `status` is 0 when none was sent. */
  ended(record: RequestRecord, status: number, milliseconds: number): void;
  /** A WebSocket was opened. Call the returned function when it closes. */
  socketOpened(): () => void;
  /** An upstream answered a call made by the gate itself. `milliseconds` runs until the head of the response. */
  called(upstream: string, status: number, milliseconds: number): void;
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
  /** Text in the Prometheus exposition format 0.0.4. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface MetricsOptions {
  /** Lines dropped from the access log. */
  readonly droppedLines: () => number;
  /** Current state of each upstream. */
  readonly upstreams: () => readonly UpstreamState[];
  /** Result of the last reload of the configuration. */
  readonly reloads: () => ReloadState;
  /** Connections whose tokens were never used, and apps for which this happens repeatedly. */
  readonly unused: () => { readonly connections: number; readonly apps: number };
  /** Events waiting for delivery; undefined when the backend receives none. */
  readonly events: () => EventsWaiting | undefined;
  readonly clock: Clock;
}

interface EventsWaiting {
  /** By class. */
  readonly events: Readonly<Record<string, number>>;
  /** Milliseconds since the epoch. */
  readonly oldestAt: number | undefined;
  readonly stopped: boolean;
}

interface UpstreamState {
  readonly name: string;
  readonly requests: number;
  readonly streams: number;
  readonly breaker: 'closed' | 'open' | 'half_open';
}

/** RFC 9110 section 9.3 and RFC 5789. A client can invent any other method; these share the label `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * The metrics of the gate. Labels are route patterns, upstream names, known methods, statuses and our own codes.
 * Clients cannot choose any of them, so the configuration bounds the number of series.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { droppedLines, upstreams: states, unused, reloads } = options;
  const registry = new Registry();
  const registers = [registry];
  const parts = createPartMetrics(registry);
  const open = new Set<RequestRecord>();
  let sockets = 0;

  const requests = new LatencyHistogram(
    'coursegate_http_request_duration_seconds',
    'Requests by route, method, status and verdict: from the head of the request to the end of the answer. Status 0: none was sent.',
    ['route', 'method', 'status', 'verdict'],
  );
  const upstreams = new LatencyHistogram(
    'coursegate_upstream_response_seconds',
    'Answers by upstream, route and status passed on: from the request being sent to the head of the answer.',
    ['upstream', 'route', 'status'],
  );
  registerReloadMetrics(registry, reloads);
  for (const histogram of [requests, upstreams]) registry.registerMetric(histogram as unknown as Metric);

  const refusals = new Counter({
    name: 'coursegate_refusals_total',
    help: 'Requests refused at the gate, by the error of the challenge; no_token when they showed none.',
    labelNames: ['reason'],
    registers,
  });
  const failures = new Counter({
    name: 'coursegate_failures_total',
    help: 'Requests that failed, by the code of the failure.',
    labelNames: ['code'],
    registers,
  });
  const store = new Counter({
    name: 'coursegate_store_failures_total',
    help: 'Times the store could not do its work.',
    registers,
  });
  const blocked = new Histogram({
    name: 'coursegate_event_loop_blocked_seconds',
    help: 'Turns of the event loop that took more than 50 ms: until such a turn is over, nobody is served.',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  new Counter({
    name: 'coursegate_access_log_dropped_lines_total',
    help: 'Lines of the access log that were dropped because nobody read them.',
    registers,
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });
  new Counter({
    name: 'coursegate_tokens_unused_total',
    help: 'Connections whose tokens were not shown at the gate within ten minutes of being issued.',
    registers,
    collect() {
      this.reset();
      this.inc(unused().connections);
    },
  });
  new Gauge({
    name: 'coursegate_tokens_unused_apps',
    help: 'Apps whose last three connections or more all stayed so: something in front of the gate may drop them.',
    registers,
    collect() {
      this.set(unused().apps);
    },
  });
  new Gauge({
    name: 'coursegate_requests_in_flight',
    help: 'Requests that are being answered, open streams included.',
    registers,
    collect() {
      this.set(open.size);
    },
  });
  new Gauge({
    name: 'coursegate_open_streams',
    help: 'Event streams and WebSockets that are open.',
    labelNames: ['kind'],
    registers,
    collect() {
      let streams = 0;
      for (const record of open) if (record.streaming) streams += 1;
      this.set({ kind: 'sse' }, streams);
      this.set({ kind: 'websocket' }, sockets);
    },
  });

  const ofUpstreams = (
    name: string,
    help: string,
    count: (state: UpstreamState) => number,
    aggregator: 'sum' | 'max' = 'sum',
  ) =>
    new Gauge({
      name,
      help,
      aggregator,
      labelNames: ['upstream'],
      registers,
      collect() {
        // Drop the series of upstreams that are no longer configured.
        this.reset();
        for (const state of states()) this.set({ upstream: state.name }, count(state));
      },
    });
  ofUpstreams(
    'coursegate_upstream_breaker_open',
    'Whether an upstream is left alone because it failed: 1 until a request has found it well again.',
    ({ breaker }) => (breaker === 'closed' ? 0 : 1),
    'max',
  );
  ofUpstreams(
    'coursegate_upstream_requests_in_flight',
    'Requests, and calls of our own, that an upstream has to answer.',
    (state) => state.requests,
  );
  ofUpstreams(
    'coursegate_upstream_open_streams',
    'Event streams that are open to an upstream.',
    ({ streams }) => streams,
  );

  const events = eventMetrics(options, registers);

  return {
    ...parts,
    events,
    began(record) {
      open.add(record);
    },
    ended(record, status, milliseconds) {
      open.delete(record);
      const method = METHODS.has(record.method) ? record.method : 'other';
      requests.observe(milliseconds, record.route, method, status, record.outcome);
      if (record.upstreamMilliseconds >= 0)
        upstreams.observe(record.upstreamMilliseconds, record.upstream, record.route, status);
      if (record.oauthError !== '') parts.oauthError(record.route, record.oauthError);
      else if (record.outcome === 'refused') refusals.inc({ reason: record.reason });
      if (record.outcome === 'failed') failures.inc({ code: record.reason });
    },
    socketOpened() {
      sockets += 1;
      return () => {
        sockets -= 1;
      };
    },
    called: (upstream, status, milliseconds) => upstreams.observe(milliseconds, upstream, ROUTE_LABELS.own, status),
    storeFailed: () => store.inc(),
    loopBlocked: (milliseconds) => blocked.observe(milliseconds / 1000),
    async exposition() {
      const all = [registry, processMetrics()];
      const texts = await Promise.all(all.map((one) => one.metrics()));
      return { contentType: registry.contentType, text: texts.join('\n') };
    },
  };
}

/** Metrics of event delivery. All gauges are 0 while the backend accepts events. */
function eventMetrics({ events, clock }: Pick<MetricsOptions, 'events' | 'clock'>, registers: Registry[]) {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const delivered = counter('coursegate_events_delivered_total', 'Events that the backend has taken, by type.', [
    'type',
  ]);
  const failed = counter(
    'coursegate_events_failed_total',
    'Attempts to send an event that failed, by status or by the code of the failure.',
    ['reason'],
  );
  const dropped = counter(
    'coursegate_events_dropped_total',
    'Events that are lost: old, after they were not taken for three days; full, when more than 10,000 waited.',
    ['type', 'why'],
  );
  new Gauge({
    name: 'coursegate_events_pending',
    aggregator: 'max',
    help: 'Events that wait for the backend to take them, of all replicas, by class.',
    labelNames: ['class'],
    registers,
    collect() {
      this.reset();
      for (const [of, count] of Object.entries(events()?.events ?? {})) this.set({ class: of }, count);
    },
  });
  new Gauge({
    name: 'coursegate_events_oldest_seconds',
    aggregator: 'max',
    help: 'How long the oldest of them has waited.',
    registers,
    collect() {
      const oldestAt = events()?.oldestAt;
      this.set(oldestAt === undefined ? 0 : Math.max(0, (clock() - oldestAt) / 1000));
    },
  });
  new Gauge({
    name: 'coursegate_events_stopped',
    aggregator: 'max',
    help: 'Whether the backend has answered 410: 1 until `coursegate events retry`.',
    registers,
    collect() {
      this.set(events()?.stopped === true ? 1 : 0);
    },
  });
  return {
    delivered: (type: string) => delivered.inc({ type }),
    failed: (reason: string) => failed.inc({ reason }),
    dropped: (type: string, why: string) => dropped.inc({ type, why }),
  };
}

let ofProcess: Registry | undefined;

/**
 * CPU, memory, event loop, garbage collection and file descriptors of the process. Created once per process, even if
 * it runs several gates.
 */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}
