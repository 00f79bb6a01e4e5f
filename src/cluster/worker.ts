import type { Worker } from 'node:cluster';
import { dirname } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import { ConfigError, problemAt } from '../config/problems.ts';
import { sourceFiles } from '../config/source-files.ts';
import { createLog, type Log } from '../operations/log.ts';
import { NOTHING_COLLECTED } from '../operations/metrics-sum.ts';
import { type Gateway, startGateway } from '../process/gateway.ts';
import { openLink } from './link.ts';
import type { PrimaryAnswers, SentFailure, Start, WorkerAnswers } from './protocol.ts';
import { shareOf } from './share.ts';
import { takeSeat } from './take-seat.ts';

/** Milliseconds in which the primary hears the last counts of a worker. */
const FAREWELL = 5_000;

export interface WorkerOptions {
  /** The channel to the primary. */
  readonly worker: Pick<Worker, 'send' | 'on'>;
  readonly clock: () => number;
  /** Where the log and the access log go: to the primary, which writes them on line by line. */
  readonly descriptors: { readonly log: number; readonly access: number };
  /** Called once it takes no more requests, and all that were in flight are answered. */
  readonly onDrained: () => void;
}

export interface RunningWorker {
  readonly log: Log;
  readonly gateway: Gateway;
  /** Leaves by itself, as if the primary had told it to. */
  drain(): void;
}

/** Serves as one worker of the primary at the other end of the channel. Throws what keeps the gate from starting. */
export async function runWorker({ worker, clock, descriptors, onDrained }: WorkerOptions): Promise<RunningWorker> {
  let gateway: Gateway | undefined;
  let draining = false;
  const drain = async (seconds: number | null): Promise<void> => {
    if (draining) return;
    draining = true;
    await gateway?.close(seconds ?? undefined);
    const metrics = (await taken.own()?.metrics()) ?? NOTHING_COLLECTED;
    // Answered after all connections that were on their way here, which have gone back to the others by then.
    await link.ask('leaving', { metrics, observed: taken.own()?.observer?.counted() }, FAREWELL).catch(() => {});
    onDrained();
  };
  const taken = takeSeat(() => link, clock);
  const port = {
    send: (message: object, failed: (error: Error | null) => void) => void worker.send(message, failed),
    receive: (take: (message: unknown) => void) => void worker.on('message', take),
  };
  const complaints: { log?: Log } = {};
  const link = openLink<WorkerAnswers, PrimaryAnswers>(
    port,
    {
      ...taken.answers,
      drain,
      async reload(next) {
        if (gateway === undefined) return 'it has not started yet';
        const outcome = await gateway.reload(async () => servedConfig(next));
        return outcome.kind === 'taken' ? null : outcome.why.message;
      },
    },
    (error) => complaints.log?.error({ err: error }, 'the primary told a worker what it could not do'),
  );

  try {
    const start = await link.ask('begin', null, 0);
    const log = createLog(start.sent.config.log.level, descriptors.log);
    complaints.log = log;
    const seat = taken.begin(start);
    const loaded = servedConfig(start);
    gateway = await startGateway({ loaded, log, clock, accessDescriptor: descriptors.access, seat });
    await link.ask('listening', null, 0);
    return { log, gateway, drain: () => void drain(null) };
  } catch (thrown) {
    await link.ask('failed', asFailure(thrown), FAREWELL).catch(() => {});
    throw thrown;
  }
}

function servedConfig({ sent, digest, workers }: Pick<Start, 'sent' | 'digest' | 'workers'>): LoadedConfig {
  const { file } = sent;
  const place = { file, line: 0, column: 0 };
  return {
    ...sent,
    config: shareOf(sent.config, workers),
    // What was read is here already. Where in the files something stands, the primary knows.
    sources: { ...sourceFiles(dirname(file)), fingerprint: (key) => key(digest) },
    written: { tree: {}, place: () => place },
    mistaken: (findings) => new ConfigError(findings.map((finding) => problemAt(place, finding))),
  };
}

function asFailure(thrown: unknown): SentFailure {
  const { message, cause, code, port } = Object(thrown) as Partial<Record<keyof SentFailure, unknown>>;
  return {
    mistaken: thrown instanceof ConfigError,
    message: thrown instanceof Error ? String(message) : String(thrown),
    cause: cause instanceof Error ? cause.message : undefined,
    code: typeof code === 'string' ? code : undefined,
    port: typeof port === 'number' ? port : undefined,
  };
}
