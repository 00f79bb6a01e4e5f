import type { Run } from '../support/run.ts';
import type { Measured } from '../support/turns.ts';
import { type Saturation, saturate } from './load/saturate.ts';
import { type Latency, steady } from './load/steady.ts';
import { memoryPerStream, type StreamMemory } from './memory.ts';
import type { Peer, PeerContext, Running } from './peers/peer.ts';
import { LARGE, SMALL } from './upstream.ts';

export interface Bench {
  readonly run: Run;
  readonly context: Omit<PeerContext, 'workers' | 'processor'>;
  /** Duration of a slice at a fixed rate, in seconds. Longer than the others, because a p99 needs thousands of requests. */
  readonly steadySeconds: number;
  readonly streams: number;
}

/**
 * How often the subjects are started anew for one measurement. One process costs a few percent more or less than the next of the
 * same program, for as long as it lives.
 */
const STARTS = 2;

type Subject = Running & Pick<Peer, 'name' | 'twinOf'>;

/** Starts peers, checks that they do the same work, measures them, and always stops them. */
async function withPeers<T>(
  { context, run }: Bench,
  peers: readonly Peer[],
  workers: 1 | 2,
  work: (subjects: readonly Subject[]) => Promise<T>,
): Promise<T> {
  const subjects: Subject[] = [];
  try {
    for (const peer of peers) {
      run.say(`  starting ${peer.name}`);
      const running = await peer.start({ ...context, workers, processor: workers === 1 ? 0 : undefined });
      subjects.push({ ...running, name: peer.name, twinOf: peer.twinOf });
      await assertSameWork(running, peer.name);
    }
    return await work(subjects);
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.stop()));
  }
}

/** Checks that a peer returns the whole body to an authorized client and, if it checks tokens, refuses others. */
async function assertSameWork({ port, tokens }: Running, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${tokens[0] ?? 'none'}` };
  for (const [path, size] of [
    ['/api/bench/k1', SMALL],
    ['/api/bench/k64', LARGE],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const { byteLength } = await answer.arrayBuffer();
    if (answer.status !== 200 || byteLength !== size)
      throw new Error(`${name} responded with ${answer.status} and ${byteLength} bytes at ${path}, not ${size}`);
  }
  if (tokens.length === 0) return;
  for (const refused of [{}, { authorization: 'Bearer of-nobody' }]) {
    const { status } = await fetch(`http://127.0.0.1:${port}/api/bench/k1`, { headers: refused });
    if (status !== 401) throw new Error(`${name} responded with ${status} to a request without a valid token`);
  }
}

/** CPU time per request, at saturation, in slices of a second. */
export function saturation(
  bench: Bench,
  what: string,
  peers: readonly Peer[],
  path: string,
  workers: 1 | 2 = 1,
): Promise<Measured<Saturation>> {
  const { folder } = bench.run;
  return inStarts(bench, what, peers, workers, (subject, warming) =>
    saturate(subject, path, warming ? 3 : 1, folder, workers === 1),
  );
}

/** Latency at a fixed rate. */
export function latency(bench: Bench, what: string, peers: readonly Peer[], rate: number): Promise<Measured<Latency>> {
  return inStarts(bench, what, peers, 1, (subject, warming) =>
    steady(subject, '/api/bench/k1', rate, warming ? 1 : bench.steadySeconds),
  );
}

/** Measures the peers in turn, an equal share of the rounds after each start. */
async function inStarts<T extends { readonly cpu: number }>(
  bench: Bench,
  what: string,
  peers: readonly Peer[],
  workers: 1 | 2,
  measure: (subject: Subject, warming: boolean) => Promise<T>,
): Promise<Measured<T>> {
  const { run } = bench;
  const measured = new Map<string, readonly T[]>();
  for (let start = 0; start < STARTS; start += 1) {
    const share = Math.ceil(run.rounds / STARTS);
    const some = await withPeers(bench, peers, workers, (subjects) => run.inTurns(what, subjects, measure, share));
    for (const [name, values] of some) measured.set(name, [...(measured.get(name) ?? []), ...values]);
  }
  return measured;
}

/** Measures each peer once, while none of the others has anything to do. */
export function eachAlone<T>(
  bench: Bench,
  peers: readonly Peer[],
  measure: (subject: Subject) => Promise<T>,
): Promise<readonly T[]> {
  return withPeers(bench, peers, 1, async (subjects) => {
    const measured: T[] = [];
    for (const subject of subjects) measured.push(await measure(subject));
    return measured;
  });
}

/** Memory per idle event stream. Measured once, because a process does not shrink after it has grown. */
export async function memory(bench: Bench, peers: readonly Peer[]): Promise<ReadonlyMap<string, StreamMemory>> {
  const measured = await eachAlone(bench, peers, async (subject) => {
    bench.run.say(`  ${bench.streams} streams through ${subject.name}`);
    return [subject.name, await memoryPerStream(subject, '/api/bench/stream', bench.streams)] as const;
  });
  return new Map(measured);
}
