import { Gauge, type Registry } from 'prom-client';
import type { ReloadState } from './reloads.ts';

/** Registers metrics that show whether the running configuration is the latest one on disk. */
export function registerReloadMetrics(registry: Registry, state: () => ReloadState): void {
  const registers = [registry];
  new Gauge({
    name: 'coursegate_config_last_reload_successful',
    // Aggregated over several processes: 0 if the reload failed in any of them.
    aggregator: 'min',
    help: 'Whether the configuration was taken over when it was last read: 0 while an older one serves on.',
    registers,
    collect() {
      this.set(state().successful ? 1 : 0);
    },
  });
  new Gauge({
    name: 'coursegate_config_last_reload_timestamp_seconds',
    aggregator: 'max',
    help: 'When a configuration was last taken over, at the start of the process or later.',
    registers,
    collect() {
      this.set(state().takenAt);
    },
  });
  new Gauge({
    name: 'coursegate_config_info',
    aggregator: 'max',
    help: 'The configuration that serves, by a fingerprint of its files: the same at all replicas that have the same.',
    labelNames: ['fingerprint'],
    registers,
    collect() {
      this.reset();
      this.set({ fingerprint: state().fingerprint }, 1);
    },
  });
}
