import { inTurns, type Measured } from '../support/rounds.ts';
import { type Saturation, saturate } from './load/saturate.ts';
import { type Latency, steady } from './load/steady.ts';
import { memoryPerStream, type StreamMemory } from './memory.ts';
import type { Peer, PeerContext, Running } from './peers/peer.ts';
import { LARGE, SMALL } from './upstream.ts';

/** The amount of work of one run. */
interface Effort {
  readonly rounds: number;
  /** Duration of one measurement, in seconds. */
  readonly seconds: number;
  readonly streams: number;
}

export interface Bench {
  readonly context: Omit<PeerContext, 'workers' | 'processor'>;
  readonly effort: Effort;
  readonly say: (line: string) => void;
}

type Subject = Running & { readonly name: string };

/** Starts peers, checks that they do the same work, measures them, and always stops them. */
async function withPeers<T>(
  { context, say }: Bench,
  peers: readonly Peer[],
  workers: 1 | 2,
  work: (subjects: readonly Subject[]) => Promise<T>,
): Promise<T> {
  const subjects: Subject[] = [];
  try {
    for (const peer of peers) {
      say(`  starting ${peer.name}`);
      const running = await peer.start({ ...context, workers, processor: workers === 1 ? 0 : undefined });
      subjects.push({ ...running, name: peer.name });
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

/** CPU time per request, at saturation. */
export function saturation(
  bench: Bench,
  peers: readonly Peer[],
  path: string,
  workers: 1 | 2 = 1,
): Promise<Measured<Saturation>> {
  const { effort, context, say } = bench;
  return withPeers(bench, peers, workers, (subjects) =>
    inTurns(
      subjects,
      effort.rounds,
      (subject, warming) => saturate(subject, path, warming ? 2 : effort.seconds, context.folder, workers === 1),
      say,
    ),
  );
}

/** Latency at a fixed rate. */
export function latency(bench: Bench, peers: readonly Peer[], rate: number): Promise<Measured<Latency>> {
  const { effort, say } = bench;
  return withPeers(bench, peers, 1, (subjects) =>
    inTurns(
      subjects,
      effort.rounds,
      (subject, warming) => steady(subject, '/api/bench/k1', rate, warming ? 1 : effort.seconds),
      say,
    ),
  );
}

/** Memory per idle event stream. Measured once, because a process does not shrink after it has grown. */
export function memory(bench: Bench, peers: readonly Peer[]): Promise<ReadonlyMap<string, StreamMemory>> {
  return withPeers(bench, peers, 1, async (subjects) => {
    const measured = new Map<string, StreamMemory>();
    for (const subject of subjects) {
      bench.say(`  ${bench.effort.streams} streams through ${subject.name}`);
      measured.set(subject.name, await memoryPerStream(subject, '/api/bench/stream', bench.effort.streams));
    }
    return measured;
  });
}
