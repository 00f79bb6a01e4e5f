import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { watchEventLoop } from '../../src/operations/event-loop.ts';

const worked = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const work = (milliseconds: number) => {
  for (const until = worked() + milliseconds; worked() < until; ) Math.sqrt(Math.random());
};

describe('the event loop', () => {
  it('is reported as blocked by a long turn, with its duration, but not while it is idle', async () => {
    const turns: number[] = [];
    const stop = watchEventLoop((milliseconds) => turns.push(milliseconds));
    await sleep(300);
    expect(turns).toEqual([]);
    // The thread waits and does not work.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await sleep(100);
    expect(turns).toEqual([]);
    work(200);
    await vi.waitFor(() => expect(turns).toHaveLength(1), { timeout: 30_000 });
    expect(turns[0]).toBeGreaterThan(120);
    stop();
    work(200);
    await sleep(100);
    expect(turns).toHaveLength(1);
  });
});
