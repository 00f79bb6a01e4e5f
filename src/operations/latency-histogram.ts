/** Upper bounds of the buckets, in seconds: from a response out of memory to a login that hangs. */
export const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const MILLISECONDS = Float64Array.from(BOUNDS, (bound) => bound * 1000);

/** The observations of one set of labels, for readers. */
export type LatencySeries = Pick<Series, 'labels' | 'counts'>;

/** The observations of one set of labels. */
class Series {
  readonly labels: Readonly<Record<string, string>>;
  /** One count per bucket, not cumulative; the last is for values above all bounds. */
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

type Label = string | number;

/**
 * A histogram that can be registered with prom-client, which needs only `name` and `get`. prom-client's own hashes the
 * labels on every observation, which costs more than all our other counting. Takes at most four labels; callers must
 * bound the number of label values.
 */
export class LatencyHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #all: Series[] = [];
  readonly #series = new Map<Label, Map<Label, Map<Label, Map<Label, Series>>>>();

  constructor({ name, help }: { readonly name: string; readonly help: string }, labelNames: readonly string[]) {
    this.name = name;
    this.#help = help;
    this.#labelNames = labelNames;
  }

  /** All series, which go on counting: copy what you keep. */
  get series(): readonly LatencySeries[] {
    return this.#all;
  }

  observe(milliseconds: number, first: Label, second: Label, third: Label = '', fourth: Label = ''): void {
    const series =
      this.#series.get(first)?.get(second)?.get(third)?.get(fourth) ?? this.#open(first, second, third, fourth);
    series.observe(milliseconds);
  }

  #open(...values: [Label, Label, Label, Label]): Series {
    const [first, second, third, fourth] = values;
    const labels = Object.fromEntries(this.#labelNames.map((name, at) => [name, String(values[at])]));
    const series = new Series(labels);
    const bySecond = within(this.#series, first);
    within(within(bySecond, second), third).set(fourth, series);
    this.#all.push(series);
    return series;
  }

  async get() {
    const values = this.#all.flatMap((series) => [...samplesOf(this.name, series)]);
    return { name: this.name, help: this.#help, type: 'histogram', values };
  }
}

function within<K, V>(map: Map<Label, Map<K, V>>, label: Label): Map<K, V> {
  let inner = map.get(label);
  if (inner === undefined) {
    inner = new Map();
    map.set(label, inner);
  }
  return inner;
}

/** In prom-client's form. */
function* samplesOf(name: string, { labels, counts, sum }: Series) {
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
