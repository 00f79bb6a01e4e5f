import type { RequestsInFlight } from '../http/requests-in-flight.ts';
import type { Clock } from '../storage/store.ts';
import type { Meters } from './meters.ts';
import type { ReloadState } from './reloads.ts';

/** Where the metrics find what they show when they are scraped. */
export interface MetricSources {
  readonly inFlight: RequestsInFlight;
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

export interface UpstreamState {
  readonly name: string;
  readonly requests: number;
  readonly streams: number;
  readonly breaker: 'closed' | 'open' | 'half_open';
}

/** Registers the metrics that are read from elsewhere. */
export function registerStateMetrics(meters: Meters, options: MetricSources): void {
  const { droppedLines, upstreams, unused, events, clock, reloads } = options;
  const { gauge, total } = meters;
  gauge(
    'coursegate_config_last_reload_successful',
    'Whether the configuration was taken over when it was last read: 0 while an older one serves on.',
    () => (reloads().refusedAt === undefined ? 1 : 0),
  );
  gauge(
    'coursegate_config_last_reload_timestamp_seconds',
    'When a configuration was last taken over, at the start of the process or later.',
    () => reloads().takenAt,
  );
  gauge(
    'coursegate_config_info',
    'The configuration that serves, by a fingerprint of its files: the same at all replicas that have the same.',
    () => [[{ fingerprint: reloads().fingerprint }, 1]],
    ['fingerprint'],
  );
  total(
    'coursegate_access_log_dropped_lines_total',
    'Lines of the access log that were dropped because the reader was too slow or gone.',
    droppedLines,
  );
  total(
    'coursegate_tokens_unused_total',
    'Connections whose tokens were not shown at the gate within ten minutes of being issued.',
    () => unused().connections,
  );
  gauge(
    'coursegate_tokens_unused_apps',
    'Apps whose last three connections or more all stayed so: something in front of the gate may drop them.',
    () => unused().apps,
  );

  const ofUpstreams = (name: string, help: string, count: (state: UpstreamState) => number) =>
    gauge(name, help, () => upstreams().map((state) => [{ upstream: state.name }, count(state)]), ['upstream']);
  ofUpstreams(
    'coursegate_upstream_breaker_open',
    'Whether an upstream is left alone because it failed: 1 until a request has found it well again.',
    ({ breaker }) => (breaker === 'closed' ? 0 : 1),
  );
  ofUpstreams(
    'coursegate_upstream_requests_in_flight',
    'Requests, and calls of our own, that an upstream has to answer.',
    ({ requests }) => requests,
  );
  ofUpstreams(
    'coursegate_upstream_open_streams',
    'Event streams that are open to an upstream.',
    ({ streams }) => streams,
  );

  gauge(
    'coursegate_events_pending',
    'Events that wait for the backend to take them, of all replicas, by class.',
    () => Object.entries(events()?.events ?? {}).map(([of, count]) => [{ class: of }, count]),
    ['class'],
  );
  gauge('coursegate_events_oldest_seconds', 'How long the oldest of them has waited.', () => {
    const oldestAt = events()?.oldestAt;
    return oldestAt === undefined ? 0 : Math.max(0, (clock() - oldestAt) / 1000);
  });
  gauge('coursegate_events_stopped', 'Whether the backend has answered 410: 1 until `coursegate events retry`.', () =>
    events()?.stopped === true ? 1 : 0,
  );
}
