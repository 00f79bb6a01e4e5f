/** Seconds: from an answer out of memory to a login that hangs. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const MILLISECONDS = Float64Array.from(BOUNDS, (bound) => bound * 1000);

/** One series: what was observed under one set of labels. */
class Series {
  readonly labels: Readonly<Record<string, string>>;
  /** One count per bound, not yet added up; the last is for what is above them all. */
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sum = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
  }

  observe(milliseconds: number): void {
    let at = 0;
    while (at < MILLISECONDS.length && milliseconds > (MILLISECONDS[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += milliseconds;
  }
}

interface Sample {
  readonly value: number;
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * A histogram as a registry of prom-client takes it (it asks for `name` and `get`). Its own, because prom-client's
 * hashes the labels on every observation, which costs more than all our other counting. In: `count(first, second,
 * third)`, the label values, of which the caller keeps the number small.
 */
export class LatencyHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #labelNames: readonly [string, string, string];
  readonly #series = new Map<string, Map<string, Series[]>>();

  constructor(name: string, help: string, labelNames: readonly [string, string, string]) {
    this.name = name;
    this.#help = help;
    this.#labelNames = labelNames;
  }

  /** The last label is a number from 0 to 999: a status. */
  observe(first: string, second: string, status: number, milliseconds: number): void {
    const series = this.#series.get(first)?.get(second)?.[status] ?? this.#open(first, second, status);
    series.observe(milliseconds);
  }

  #open(first: string, second: string, status: number): Series {
    const [one, two, three] = this.#labelNames;
    let bySecond = this.#series.get(first);
    if (bySecond === undefined) {
      bySecond = new Map();
      this.#series.set(first, bySecond);
    }
    let byStatus = bySecond.get(second);
    if (byStatus === undefined) {
      byStatus = [];
      bySecond.set(second, byStatus);
    }
    const series = new Series({ [one]: first, [two]: second, [three]: String(status) });
    byStatus[status] = series;
    return series;
  }

  async get() {
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values: [...this.#samples()] };
  }

  *#samples(): Generator<Sample> {
    for (const bySecond of this.#series.values()) {
      for (const byStatus of bySecond.values()) {
        for (const series of Object.values(byStatus)) yield* samplesOf(this.name, series);
      }
    }
  }
}

function* samplesOf(name: string, { labels, counts, sum }: Series): Generator<Sample> {
  let total = 0;
  for (const [at, bound] of BOUNDS.entries()) {
    total += counts[at] ?? 0;
    yield { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: total };
  }
  total += counts[BOUNDS.length] ?? 0;
  yield { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total };
  yield { metricName: `${name}_sum`, labels, value: sum / 1000 };
  yield { metricName: `${name}_count`, labels, value: total };
}
