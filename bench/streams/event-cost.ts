import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMeter } from '../support/cpu.ts';
import type { Run } from '../support/run.ts';
import type { Measured, Named } from '../support/turns.ts';
import { coursegate, coursegateAgain } from '../upstream/peers/coursegate.ts';
import { nginx } from '../upstream/peers/nginx.ts';
import type { Running } from '../upstream/peers/peer.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { Crowd, tick } from './crowd-process.ts';

/** Events per stream in one slice of a second. */
const TICKS = 5;

interface Cost {
  /** CPU time per event, in microseconds. */
  readonly cpu: number;
}

interface Subject extends Named {
  readonly roots: readonly number[];
  /** What its streams are called at the upstream. */
  readonly of: string;
}

export interface EventCosts {
  /** All streams get each of their events in the same instant. */
  readonly atOnce: Measured<Cost>;
  /** Events are spread evenly over the second. */
  readonly spread: Measured<Cost>;
}

/** CPU time per event of a gate, of its second start, and of nginx, which hold `streams` streams each. */
export async function measureEventCosts(run: Run, streams: number): Promise<EventCosts> {
  const upstream = await startUpstream(run.folder);
  const crowd = new Crowd();
  const closers: (() => Promise<void>)[] = [() => upstream.stop(), () => crowd.end()];
  try {
    const subjects: Subject[] = [];
    for (const peer of [coursegate(), coursegateAgain, nginx]) {
      const running: Running = await peer.start({ folder: run.folder, upstream, workers: 1, processor: 0, tokens: [] });
      closers.push(() => running.stop());
      const of = String(running.port);
      await crowd.open({ port: running.port, path: `/api/bench/stream?of=${of}`, streams, tokens: running.tokens });
      subjects.push({ name: peer.name, twinOf: peer.twinOf, roots: running.roots, of });
    }
    const slice = async ({ roots, of }: Subject, spread: number): Promise<Cost> => {
      const used = cpuMeter(roots);
      const before = crowd.says.ticks;
      let sent = 0;
      for (let at = 0; at < TICKS; at += 1) {
        sent += await tick(upstream.streamPort, of, spread);
        await sleep(1000 / TICKS - spread);
      }
      await crowd.until(({ ticks }) => ticks - before >= sent, 'every event is heard');
      return { cpu: used() / sent };
    };
    const atOnce = await run.inTurns('events at once', subjects, (subject) => slice(subject, 0));
    return { atOnce, spread: await run.inTurns('events spread', subjects, (subject) => slice(subject, 1000 / TICKS)) };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}
