import { expect, it } from 'vitest';
import { drawLines } from '../../../src/operator/console/traffic/chart.ts';

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

it('a line without any value has an empty path', () => {
  expect(paths([undefined, undefined])).toEqual([['', '']]);
});
