import type { ChildProcess } from 'node:child_process';

/** How node:cluster speaks to its own workers. Not documented: test/cluster/supervision.test.ts sees when it is otherwise. */
interface HandOver {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

const CLUSTER = 'NODE_CLUSTER';

/**
 * Has connections that a worker was handed and never took given to another when it ends. node:cluster waits for its word
 * for ever: the client's connection stays open, and nobody has it. In: a worker's process, just started.
 */
export function reclaimConnections(worker: ChildProcess): void {
  const handed = new Set<number>();
  const send = worker.send.bind(worker) as (...given: readonly unknown[]) => boolean;
  worker.send = (...given: readonly unknown[]) => {
    const { cmd, act, seq } = given[0] as HandOver;
    if (cmd === CLUSTER && act === 'newconn' && seq !== undefined) handed.add(seq);
    return send(...given);
  };
  const events: NodeJS.EventEmitter = worker;
  events.on('internalMessage', ({ cmd, ack }: HandOver) => {
    if (cmd === CLUSTER && ack !== undefined) handed.delete(ack);
  });
  worker.once('exit', () => {
    const settle = (): void => {
      // What it has said last is still being read.
      if (worker.connected) return void setImmediate(settle);
      // Node keeps this event back while a handle is on its way, and a worker that is gone would be handed more.
      events.emit('disconnect');
      for (const ack of handed) events.emit('internalMessage', { cmd: CLUSTER, ack, accepted: false });
    };
    settle();
  });
}
