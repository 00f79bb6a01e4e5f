import type { LoadedConfig } from '../config/load.ts';
import { createLineWriter, type LineWriter } from '../operations/line-writer.ts';
import type { Log } from '../operations/log.ts';
import { type OpenedStore, openedFor, openStore } from '../storage/open.ts';
import type { Clock } from '../storage/store.ts';

/** What the gates of a process share: the store, and the access log. */
export interface Ground extends OpenedStore {
  /** Receives the lines of the access log; undefined when there is none. */
  readonly accessLines: LineWriter | undefined;
  /** Releases all of it. */
  release(): Promise<void>;
}

export interface GroundOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** File descriptor of the access log; undefined when there is none. */
  readonly accessDescriptor: number | undefined;
}

const damagedLine = (log: Log) => (kind: string, err: unknown) =>
  log.error({ kind, err }, 'an entry of the store is damaged, and counts as absent');

/** Throws GatewayError `store_unavailable`. */
export async function openGround({ loaded, log, clock, accessDescriptor }: GroundOptions): Promise<Ground> {
  const opened = await openStore(loaded.config.store, loaded, clock, damagedLine(log));
  const accessLines =
    accessDescriptor === undefined
      ? undefined
      : createLineWriter(accessDescriptor, (error) => log.error({ err: error }, 'the access log cannot be written'));
  return {
    ...opened,
    accessLines,
    async release() {
      opened.counters.close();
      await opened.bus.close();
      await opened.store.close();
      await accessLines?.close();
    },
  };
}

interface School extends Pick<GroundOptions, 'log' | 'clock'> {
  /** Of lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Secrets of the school that also open and verify. */
  readonly further: readonly string[];
}

/** The part of it that is one school's. `id` is random, and never used again. */
export function groundFor(ground: Ground, id: string, { name, log, clock, further }: School): Ground {
  const lines = ground.accessLines;
  // Each line is a JSON object with members.
  const accessLines = lines && {
    ...lines,
    write: (line: string) => lines.write(`{"school":"${name}",${line.slice(1)}`),
  };
  return { ...openedFor(ground, id, clock, damagedLine(log), further), accessLines, async release() {} };
}
