import { Counter, Gauge, Registry } from 'prom-client';
import type { MetricValues } from './metrics-sum.ts';

export interface WorkerMetrics {
  /** A worker has ended that nobody had told to. */
  ended(): void;
  collected(): Promise<MetricValues>;
}

/** What the primary counts of its workers. In: how many there are to be, and how many take requests now. */
export function createWorkerMetrics(configured: number, listening: () => number): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'coursegate_workers',
    help: 'Worker processes: how many there are to be, and how many take requests.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'configured' }, configured);
      this.set({ state: 'listening' }, listening());
    },
  });
  const exits = new Counter({
    name: 'coursegate_worker_exits_total',
    help: 'Worker processes that ended without being told to, and were replaced.',
    registers,
  });
  return { ended: () => exits.inc(), collected: () => registry.getMetricsAsJSON() };
}
