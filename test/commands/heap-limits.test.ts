import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { heapOptions } from '../../src/commands/heap-limits.ts';
import { runCommand } from '../support/command.ts';

const MIB = 2 ** 20;
const PRINT = '--import=data:text/javascript,console.log(JSON.stringify([process.pid,process.env.NODE_OPTIONS]))';

/** The process that each start of Node printed, and its options, until the command ended because it has no configuration. */
async function starts(
  command: string,
  options = '',
  node: readonly string[] = [],
): Promise<readonly (readonly [number, string])[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-heap-'));
  const run = runCommand(
    [command, '--config', join(folder, 'none.yaml')],
    { NODE_OPTIONS: `${options}${PRINT}` },
    node,
  );
  await run.exited;
  rmSync(folder, { recursive: true });
  return run
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

it('limits the young generation, and the heap to 60 % of a container', () => {
  expect(heapOptions(0, 8192 * MIB)).toEqual(['--max-semi-space-size=4']);
  // What cgroups say without a limit.
  expect(heapOptions(2 ** 64, 8192 * MIB)).toEqual(['--max-semi-space-size=4']);
  expect(heapOptions(256 * MIB, 8192 * MIB)).toEqual(['--max-semi-space-size=4', '--max-old-space-size=153']);
});

it.skipIf(process.platform === 'win32')(
  'serve starts again in the same process, with NODE_OPTIONS after its own',
  async () => {
    const [first, second, ...more] = await starts('serve');
    expect(more).toEqual([]);
    expect(first?.[1]).toBe(PRINT);
    expect(second).toEqual([first?.[0], [...heapOptions(), PRINT].join(' ')]);
  },
);

it('serve leaves the heap to the operator’s options, and other commands start once', async () => {
  expect(await starts('serve', '--max-semi-space-size=8 ')).toHaveLength(1);
  expect(await starts('check')).toHaveLength(1);
});

it('is given to Node by what starts it for us: npm start and the image, so that they start once', async () => {
  const root = new URL('../../', import.meta.url);
  const [shebang] = readFileSync(new URL('packaging/image/coursegate', root), 'utf8').split('\n');
  // Linux passes all that follows the program as one argument.
  expect(shebang).toBe('#!/usr/local/bin/node --max-semi-space-size=4');
  expect(manifest.scripts.start).toBe('node --max-semi-space-size=4 bin/coursegate.js demo');
  if (heapOptions().length === 1) expect(await starts('serve', '', ['--max-semi-space-size=4'])).toHaveLength(1);
});

it.skipIf(process.platform === 'win32')('NODE_OPTIONS wins over the size that the image gives', async () => {
  const [, second, ...more] = await starts('serve', '--max-semi-space-size=8 ', ['--max-semi-space-size=4']);
  expect([second?.[1], more]).toEqual([`--max-semi-space-size=8 ${PRINT}`, []]);
  expect(await starts('serve', '--max-semi-space-size=4 ', ['--max-semi-space-size=4'])).toHaveLength(1);
});
