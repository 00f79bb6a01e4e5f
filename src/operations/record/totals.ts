import type { Metrics } from '../metrics.ts';
import { addBuckets, emptyMinute, type Group, type Minute } from './minute.ts';

const REQUESTS = 'coursegate_http_request_duration_seconds';
/** Each is the sum of a metric over all labels but one. */
const COUNTERS = [
  ['coursegate_refusals_total', 'reason', 'refusals'],
  ['coursegate_oauth_errors_total', 'error', 'refusals'],
  ['coursegate_failures_total', 'code', 'failures'],
  ['coursegate_tokens_issued_total', 'grant', 'tokens'],
  ['coursegate_sign_ins_total', 'outcome', 'sign-ins'],
  ['coursegate_consents_total', 'decision', 'consents'],
  ['coursegate_upstream_failures_total', 'upstream', 'unanswered'],
  ['coursegate_upstream_breaker_open', 'upstream', 'breakers'],
  ['coursegate_open_streams', 'kind', 'open'],
] as const satisfies readonly (readonly [metric: string, label: string, group: Group])[];

/** The metrics that traffic is read from. */
export type Readings = Pick<Metrics, 'values' | 'latencies'>;

/**
 * What this process has counted since its start. It only reads the metrics: nothing is counted again for it while
 * requests are served.
 */
export async function readTotals(metrics: Readings): Promise<Minute> {
  const totals = emptyMinute();
  const add = (group: Group, name: string | number | undefined, count: number) => {
    const key = `${group} ${name ?? ''}`;
    totals.counts.set(key, (totals.counts.get(key) ?? 0) + count);
  };
  for (const { labels, counts } of metrics.latencies(REQUESTS)) {
    const { verdict = '', status = '' } = labels;
    const count = sumOf(counts);
    add('requests', verdict, count);
    add('statuses', status === '0' ? 'none' : `${status.slice(0, 1)}xx`, count);
    // How long the legacy site takes, and how long a WebSocket stays open, says nothing about the gate.
    if (verdict !== 'site' && status !== '101') addBuckets(totals.latencies, 'gate', counts);
  }
  for (const { labels, counts } of metrics.latencies('coursegate_event_stream_duration_seconds')) {
    if (labels.verdict !== 'site') addBuckets(totals.latencies, 'gate', counts, -1);
  }
  for (const { labels, counts } of metrics.latencies('coursegate_upstream_response_seconds')) {
    const answered = sumOf(counts);
    add('upstreams', labels.upstream, answered);
    if (Number(labels.status) >= 500) add('errors', labels.upstream, answered);
    addBuckets(totals.latencies, `upstream ${labels.upstream}`, counts);
  }
  for (const [metric, label, group] of COUNTERS) {
    for (const { labels, value } of await metrics.values(metric)) add(group, labels[label], value);
  }
  for (const { value } of await metrics.values('coursegate_store_failures_total')) add('store', 'failed', value);
  for (const { value } of await metrics.values('coursegate_requests_in_flight')) add('open', 'requests', value);
  return totals;
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
