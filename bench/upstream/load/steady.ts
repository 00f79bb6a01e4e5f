import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cpuMeter } from '../../support/cpu.ts';
import type { Running } from '../peers/peer.ts';
import { OTHER_PROCESSOR } from '../upstream.ts';

export interface Latency {
  /** In milliseconds, counted from the time a request was due. */
  readonly p50: number;
  /** Infinity if it could not keep up with the rate. */
  readonly p99: number;
  /** CPU time per request, in microseconds. */
  readonly cpu: number;
}

const OPEN_LOOP = fileURLToPath(new URL('open-loop.ts', import.meta.url));

/** Measures latency at a fixed rate, with a separate load process. Throws if a response is not 200. */
export async function steady(running: Running, path: string, rate: number, seconds: number): Promise<Latency> {
  const { port, tokens } = running;
  const order = JSON.stringify({ port, path, tokens, rate, seconds, settle: 1 });
  const used = cpuMeter(running.roots);
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['-c', String(OTHER_PROCESSOR), process.execPath, OPEN_LOOP, order],
    { maxBuffer: 1 << 24 },
  );
  const { p50, p99, unanswered } = JSON.parse(stdout) as Omit<Latency, 'cpu'> & { unanswered: number };
  // The load is offered for a second before it is counted.
  const cpu = used() / (rate * (seconds + 1));
  return unanswered > 0 ? { p50, p99: Number.POSITIVE_INFINITY, cpu } : { p50, p99, cpu };
}
