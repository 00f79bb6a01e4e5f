import type { Metric } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { once } from '../http/once.ts';
import { LatencyHistogram, type LatencySeries } from './latency-histogram.ts';

/** What a metric has at scrape time: one value, or one for each set of labels. */
type Values = number | undefined | Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

export type Read = () => Values | Promise<Values>;

interface Value {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** Creates metrics in a registry. Those that are given a `read` function have no series but what it returns. */
export type Meters = ReturnType<typeof createMeters>;

export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  const latencies = new Map<string, LatencyHistogram>();
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),

    histogram: (name: string, help: string, buckets: number[]) => new Histogram({ name, help, buckets, registers }),

    latency(name: string, help: string, labelNames: readonly string[]): LatencyHistogram {
      const histogram = new LatencyHistogram(name, help, labelNames);
      registry.registerMetric(histogram as unknown as Metric);
      latencies.set(name, histogram);
      return histogram;
    },

    gauge(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          this.reset();
          for (const [labels, value] of seriesOf(await read())) this.set(labels, value);
        },
      });
    },

    total(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          this.reset();
          for (const [labels, value] of seriesOf(await read())) this.inc(labels, value);
        },
      });
    },

    /** Current values of a counter or gauge, by labels. */
    async values(name: string): Promise<readonly Value[]> {
      return (await registry.getSingleMetric(name)?.get())?.values ?? [];
    },

    /** The series of a latency histogram, which go on counting: copy what you keep. */
    latencies: (name: string): readonly LatencySeries[] => latencies.get(name)?.series ?? [],

    /** Text in the Prometheus exposition format 0.0.4. */
    async exposition(): Promise<{ readonly contentType: string; readonly text: string }> {
      const texts = await Promise.all([registry, await processMetrics()].map((one) => one.metrics()));
      return { contentType: registry.contentType, text: texts.join('\n') };
    },
  };
}

function seriesOf(values: Values): Exclude<Values, number | undefined> {
  return typeof values === 'number' ? [[{}, values]] : (values ?? []);
}

/**
 * CPU, memory, event loop, garbage collection and file descriptors of the process. Created once per process, even if
 * it runs several gates.
 */
const processMetrics = once(async () => {
  // Loaded with the first scrape, because it also loads the API of OpenTelemetry.
  const { default: collectDefaultMetrics } = await import('prom-client/lib/defaultMetrics.js');
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
});
