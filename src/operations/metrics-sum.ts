import { AggregatorRegistry, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';

/** Metrics as values, by name. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What one process has counted: of the gate it serves, and of itself (CPU, memory, event loop). */
export interface CollectedMetrics {
  readonly gate: MetricValues;
  readonly process: MetricValues;
}

export const NOTHING_COLLECTED: CollectedMetrics = { gate: [], process: [] };

/** Adds up what several processes have counted of one gate, each metric as its `aggregator` says: most are sums. */
export function sumOf(gates: readonly MetricValues[]): Promise<MetricValues> {
  return AggregatorRegistry.aggregate(gates as MetricObjectWithValues<MetricValue<string>>[][]).getMetricsAsJSON();
}

/** What stays when a process ends: what it counted has happened, and what it had open is closed. */
export function lasting(metrics: MetricValues): MetricValues {
  return metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

/**
 * The exposition of several processes as one gate. In: what the gate counts, added up, and by its name what each process
 * says of itself: of memory or the event loop a sum would tell nothing, so those have a label `worker`.
 */
export async function expositionOf(
  gate: MetricValues,
  processes: ReadonlyMap<string, MetricValues>,
): Promise<{ readonly contentType: string; readonly text: string }> {
  const registry = new Registry();
  const all = [...gate, ...labelled(processes)];
  for (const metric of all) registry.registerMetric({ ...metric, get: async () => metric } as unknown as Metric);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

function labelled(processes: ReadonlyMap<string, MetricValues>): MetricValues {
  const byName = new Map<string, MetricValues[number]>();
  for (const [worker, metrics] of processes) {
    for (const metric of metrics) {
      const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } }));
      const known = byName.get(metric.name)?.values ?? [];
      byName.set(metric.name, { ...metric, values: [...known, ...values] });
    }
  }
  return [...byName.values()];
}
