import { expect, it } from 'vitest';
import { drawLines } from '../../../src/operator/console/traffic/chart.ts';
import { allFigures } from '../../../src/operator/console/traffic/figures.ts';
import { readPeriod } from '../../../src/operator/console/traffic/period.ts';

const drawn = (values: readonly (number | undefined)[]) =>
  String(
    drawLines({
      ...{ id: 'x', title: 'Requests', description: 'Each minute', ticks: [], scale: 'count', format: String },
      lines: [{ name: 'All', style: 1, values, total: '' }],
      measured: values.map((value) => value !== undefined),
    }),
  );
const paths = (values: readonly (number | undefined)[]) =>
  [...drawn(values).matchAll(/<path class="line-1( dot)?"[^>]* d="([^"]*)"/g)].map(([, dot, d]) => [dot ?? '', d]);

it('a line of a chart has a dot for each value without neighbours, and for no other', () => {
  const line = ['', expect.stringMatching(/^M/)];
  expect(paths([1, 2, undefined, undefined])).toEqual([line]);
  expect(paths([undefined, undefined, 1, 2])).toEqual([line]);
  expect(paths([undefined, 2, undefined, undefined])).toEqual([
    ['', expect.stringMatching(/^M375,/)],
    [' dot', expect.stringMatching(/^M375,[\d.]+h0$/)],
  ]);
});

it('a chart has six lines at most, and the last of more is for all others', async () => {
  const figureOf = async (names: number, group = 'refusals') => {
    const counts = new Map(Array.from({ length: names }, (_, at) => [`${group} reason_${at}`, 100 - at] as const));
    const minutes = new Map([[0, { counts, latencies: new Map() }]]);
    const period = await readPeriod({ recent: async () => ({ minutes, complete: true }) }, 'hour', 60_000);
    return allFigures(period).find(({ id }) => id === group);
  };
  const six = await figureOf(6);
  expect(six?.lines.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4, 5].map((at) => `Reason ${at}`));
  const eight = await figureOf(8);
  expect(eight?.lines.map(({ name, total, style }) => [name, total, style])).toEqual([
    ...[0, 1, 2, 3, 4].map((at) => [`Reason ${at}`, `${100 - at}`, at + 1]),
    ['3 others', '282', 6],
  ]);
  expect([six?.text, six?.format(9999), six?.format(10_000)]).toEqual(['By reason, per minute', '9,999', '10k']);
});

it('a line without any value has an empty path', () => {
  expect(paths([undefined, undefined])).toEqual([['', '']]);
});
