import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Running } from '../peers/peer.ts';
import { OTHER_PROCESSOR } from '../upstream.ts';

export interface Latency {
  /** Milliseconds from when a request was due. */
  readonly p50: number;
  /** Infinity: it could not keep up with the rate. */
  readonly p99: number;
}

const OPEN_LOOP = fileURLToPath(new URL('open-loop.ts', import.meta.url));

/** Latency at a fixed rate, from a process of its own. Throws when an answer was not 200. */
export async function steady(running: Running, path: string, rate: number, seconds: number): Promise<Latency> {
  const { port, tokens } = running;
  const order = JSON.stringify({ port, path, tokens, rate, seconds, settle: 1 });
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['-c', String(OTHER_PROCESSOR), process.execPath, OPEN_LOOP, order],
    { maxBuffer: 1 << 24 },
  );
  const { p50, p99, unanswered } = JSON.parse(stdout) as Latency & { unanswered: number };
  return unanswered > 0 ? { p50, p99: Number.POSITIVE_INFINITY } : { p50, p99 };
}
