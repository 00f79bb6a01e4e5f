import type { CounterConfiguration, Metric } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { readPlainYaml } from '../config/plain-yaml.ts';
import { once } from '../http/once.ts';
import { codePath, readInstalled } from '../installation.ts';
import { LatencyHistogram, type LatencySeries } from './latency-histogram.ts';

/** What a metric has at scrape time: one value, or one for each set of labels. */
type Values = number | undefined | Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

export type Read = () => Values | Promise<Values>;

interface Value {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/**
 * Creates metrics in a registry, with their help texts from `metrics.yaml`. Those that are given a `read` function have
 * no series but what it returns.
 */
export type Meters = ReturnType<typeof createMeters>;

export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  const latencies = new Map<string, LatencyHistogram>();
  const described = helpTexts();
  const readAs =
    (Kind: new (of: CounterConfiguration<string>) => unknown) =>
    (name: string, read: Read, labelNames: readonly string[] = []): void => {
      new Kind({
        ...described(name),
        labelNames,
        registers,
        async collect() {
          this.reset();
          for (const [labels, value] of seriesOf(await read())) this.inc(labels, value);
        },
      });
    };
  return {
    counter: <Label extends string>(name: string, labelNames: readonly Label[] = []) =>
      new Counter({ ...described(name), labelNames, registers }),

    histogram: (name: string, buckets: number[]) => new Histogram({ ...described(name), buckets, registers }),

    latency(name: string, labelNames: readonly string[]): LatencyHistogram {
      const histogram = new LatencyHistogram(described(name), labelNames);
      registry.registerMetric(histogram as unknown as Metric);
      latencies.set(name, histogram);
      return histogram;
    },

    gauge: readAs(Gauge),
    total: readAs(Counter),

    /** Current values of a counter or gauge, by labels. */
    async values(name: string): Promise<readonly Value[]> {
      return (await registry.getSingleMetric(name)?.get())?.values ?? [];
    },

    /** The series of a latency histogram, which go on counting: copy what you keep. */
    latencies: (name: string): readonly LatencySeries[] => latencies.get(name)?.series ?? [],

    /** The same without what is measured of the whole process. */
    own: () => registry.metrics(),

    /** Text in the Prometheus exposition format 0.0.4. */
    async exposition(): Promise<{ readonly contentType: string; readonly text: string }> {
      const texts = await Promise.all([registry, await processMetrics()].map((one) => one.metrics()));
      return { contentType: registry.contentType, text: texts.join('\n') };
    },
  };
}

function helpTexts() {
  const file = codePath('operations/metrics.yaml');
  const helps = new Map(Object.entries(Object(readPlainYaml(readInstalled(file).toString('utf8')))));
  return (name: string): { readonly name: string; readonly help: string } => {
    const help = helps.get(name);
    if (typeof help !== 'string') throw new Error(`${file} has no text for ${name}.`);
    return { name, help };
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
