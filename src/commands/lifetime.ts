import type { Log } from '../operations/log.ts';
import { EXIT } from './failure.ts';

/** Runs until SIGTERM or SIGINT, closes, and exits 0; a second signal does not wait. */
export function untilSignal(close: () => Promise<void>, tell: (line: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(EXIT.failure));
      close().then(
        () => process.exit(EXIT.ok),
        (thrown: unknown) => {
          tell(`It was not closed as it should be: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
          process.exit(EXIT.failure);
        },
      );
    });
  }
}

/** Ends the process now. */
export function leave(code: number): never {
  process.exit(code);
}

/** Does something whenever this signal comes, instead of what it does by itself. */
export function onSignal(signal: NodeJS.Signals, act: () => void): void {
  process.on(signal, act);
}

/**
 * What to do about a throw that nobody caught, an unhandled rejection among them: nobody knows any more what state the
 * process is in, so it takes no more requests, lets those in flight end, and exits 1 within ten seconds, for the
 * supervisor to start a new one. Going on would be a guess. `close` takes the seconds it may wait.
 */
export function onUncaught(log: Log, close: (seconds: number) => Promise<void>): void {
  const end = () => process.exit(EXIT.failure);
  let ending = false;
  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'a failure nobody caught: the process ends');
    if (ending) return;
    ending = true;
    setTimeout(end, 10_000).unref();
    close(8).then(end, end);
  });
}
