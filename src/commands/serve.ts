import { InvalidArgumentError } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import type { Log } from '../operations/log.ts';
import { type Define, examples } from './command.ts';
import { EXIT } from './failure.ts';
import { leave, onSignal, onUncaught, untilSignal } from './lifetime.ts';
import type { Terminal } from './terminal.ts';

interface ServeOptions {
  readonly config: string;
  readonly workers?: number | 'auto';
}

const DESCRIPTORS = { log: 2, access: 1 } as const;

export const define: Define = (command, terminal) => {
  command
    .requiredOption('--config <file>', 'the configuration file')
    .option('--workers <number>', 'processes that serve, or auto for one a core; as cluster.workers', parseWorkers)
    .addHelpText(
      'after',
      examples(
        'coursegate serve --config coursegate.yaml',
        'coursegate serve --config coursegate.yaml --workers auto',
        'PORT=8090 ADMIN_PORT=9091 coursegate serve --config coursegate.yaml',
      ),
    )
    .action(async ({ config: file, workers }: ServeOptions) => {
      if (terminal.environment.COURSEGATE_WORKER !== undefined) return serveAsWorker();
      const [{ loadConfig }, { createLog }] = await Promise.all([
        import('../config/load.ts'),
        import('../operations/log.ts'),
      ]);
      const loaded = await loadConfig({
        file,
        environment: terminal.environment,
        ...(workers === undefined ? {} : { overrides: { cluster: { workers } } }),
      });
      const log = createLog(loaded.config.log.level, DESCRIPTORS.log);
      for (const { path, message, file: where, line } of loaded.warnings)
        log.warn({ file: where, line }, `${path}: ${message}`);
      await (loaded.config.cluster === undefined
        ? serveAlone(file, loaded, log, terminal)
        : servePrimary({ config: file, ...(workers === undefined ? {} : { workers }) }, loaded, log, terminal));
      terminal.say(`coursegate ready ${loaded.config.origin} profile=${loaded.profile}`);
    });
};

async function serveAlone(
  file: string,
  loaded: LoadedConfig,
  log: Log,
  { tell, environment }: Terminal,
): Promise<void> {
  const [{ startGateway }, { followConfig }] = await Promise.all([
    import('../process/gateway.ts'),
    import('../process/watch/follow.ts'),
  ]);
  const gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: DESCRIPTORS.access });
  onUncaught(log, (seconds) => gateway.close(seconds));
  const following = followConfig({ file, environment, loaded, reload: gateway.reload, log });
  onSignal('SIGHUP', () => void following.now());
  untilSignal(() => {
    following.close();
    return gateway.close();
  }, tell);
}

async function servePrimary(
  { config: file, workers: typed }: ServeOptions,
  loaded: LoadedConfig,
  log: Log,
  { tell, environment }: Terminal,
): Promise<void> {
  const [{ availableParallelism }, { startPrimary }, { workerProcesses }, { followConfig }] = await Promise.all([
    import('node:os'),
    import('../cluster/primary.ts'),
    import('../cluster/processes.ts'),
    import('../process/watch/follow.ts'),
  ]);
  const { workers = 'auto' } = loaded.config.cluster ?? {};
  const processes = workerProcesses(DESCRIPTORS, log);
  const primary = await startPrimary({
    loaded,
    workers: workers === 'auto' ? availableParallelism() : workers,
    log,
    clock: Date.now,
    fork: processes.fork,
    droppedLines: processes.droppedLines,
  });
  const close = async (seconds?: number) => {
    await primary.close(seconds);
    await processes.close();
  };
  onUncaught(log, close);
  // What was given on the command line stays as it is.
  const { cluster } = loaded.config;
  const reload: typeof primary.reload = (load) =>
    primary.reload(async () => {
      const next = await load();
      return typed === undefined ? next : { ...next, config: { ...next.config, cluster } };
    });
  const following = followConfig({ file, environment, loaded, reload, log });
  onSignal('SIGHUP', () => void following.now());
  untilSignal(() => {
    following.close();
    return close();
  }, tell);
  onSignal('SIGUSR2', () => void primary.restart());
}

/** One of several processes. Its primary tells it what to serve and when to go, and says what went wrong. */
async function serveAsWorker(): Promise<void> {
  const [{ default: cluster }, { runWorker }] = await Promise.all([
    import('node:cluster'),
    import('../cluster/worker.ts'),
  ]);
  const { worker } = cluster;
  if (worker === undefined) throw new Error('COURSEGATE_WORKER is set, and there is no primary: take it out.');
  // What is sent to all processes at once is for the primary.
  onSignal('SIGHUP', () => {});
  onSignal('SIGUSR2', () => {});
  // Ctrl-C reaches every process of a terminal: the primary tells its workers what to do.
  onSignal('SIGINT', () => {});
  try {
    const { log, gateway, drain } = await runWorker({
      worker,
      clock: Date.now,
      descriptors: DESCRIPTORS,
      onDrained: () => leave(EXIT.ok),
    });
    onUncaught(log, (seconds) => gateway.close(seconds));
    onSignal('SIGTERM', drain);
  } catch {
    leave(EXIT.failure);
  }
}

function parseWorkers(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('It takes a number of processes, or auto.');
  return number;
}
