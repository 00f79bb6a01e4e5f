import type { Log } from '../operations/log.ts';
import { EXIT } from './exit-codes.ts';

/** Runs until SIGTERM or SIGINT, then closes and exits 0. A second signal exits at once. */
export function untilSignal(close: () => Promise<void>, tell: (line: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(EXIT.failure));
      close().then(
        () => process.exit(EXIT.ok),
        (thrown: unknown) => {
          tell(`Shutdown failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
          process.exit(EXIT.failure);
        },
      );
    });
  }
}

/** Replaces the default action of a signal. */
export function onSignal(signal: NodeJS.Signals, act: () => void): void {
  process.on(signal, act);
}

/**
 * Handles uncaught exceptions and unhandled rejections. The state of the process is unknown from there on, so it stops
 * accepting requests, lets those in flight finish, and exits 1 within ten seconds for the supervisor to restart it.
 * `close` is given the number of seconds it may wait.
 */
export function onUncaught(log: Log, close: (seconds: number) => Promise<void>): void {
  const end = () => process.exit(EXIT.failure);
  let ending = false;
  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'uncaught failure: the process exits');
    if (ending) return;
    ending = true;
    setTimeout(end, 10_000).unref();
    close(8).then(end, end);
  });
}
