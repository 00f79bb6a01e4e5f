import type { RequestList } from '../http/requests-in-flight.ts';
import type { Clock } from '../storage/store.ts';
import type { Meters } from './meters.ts';
import type { ReloadState } from './reloads.ts';

/** Where the metrics find what they show when they are scraped. */
export interface MetricSources {
  readonly inFlight: RequestList;
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
export function registerStateMetrics({ gauge, total }: Meters, options: MetricSources): void {
  const { droppedLines, upstreams, unused, events, clock, reloads } = options;
  gauge('coursegate_config_last_reload_successful', () => (reloads().refusedAt === undefined ? 1 : 0));
  gauge('coursegate_config_last_reload_timestamp_seconds', () => reloads().takenAt);
  gauge('coursegate_config_info', () => [[{ fingerprint: reloads().fingerprint }, 1]], ['fingerprint']);
  total('coursegate_access_log_dropped_lines_total', droppedLines);
  total('coursegate_tokens_unused_total', () => unused().connections);
  gauge('coursegate_tokens_unused_apps', () => unused().apps);

  const ofUpstreams = (name: string, count: (state: UpstreamState) => number) =>
    gauge(name, () => upstreams().map((state) => [{ upstream: state.name }, count(state)]), ['upstream']);
  ofUpstreams('coursegate_upstream_breaker_open', ({ breaker }) => (breaker === 'closed' ? 0 : 1));
  ofUpstreams('coursegate_upstream_requests_in_flight', ({ requests }) => requests);
  ofUpstreams('coursegate_upstream_open_streams', ({ streams }) => streams);

  const pending = () => Object.entries(events()?.events ?? {});
  gauge('coursegate_events_pending', () => pending().map(([of, count]) => [{ class: of }, count]), ['class']);
  gauge('coursegate_events_oldest_seconds', () => {
    const oldestAt = events()?.oldestAt;
    return oldestAt === undefined ? 0 : Math.max(0, (clock() - oldestAt) / 1000);
  });
  gauge('coursegate_events_stopped', () => (events()?.stopped === true ? 1 : 0));
}
