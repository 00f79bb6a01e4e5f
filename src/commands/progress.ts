import type { Terminal } from './terminal.ts';

export interface Progress {
  /** Updates the display. Without `total`, only the count is shown. */
  at(done: number, total?: number): void;
  /** Removes what was drawn. */
  done(): void;
}

/** Milliseconds between updates: on a terminal, and of the lines elsewhere. */
const DRAWN = 100;
const PRINTED = 5000;
/** Milliseconds before a wait is shown at all. */
const SHORT = 300;
const WHEEL = ['|', '/', '-', '\\'];
const ERASE = '\r\u001b[2K';

/**
 * Shows the progress of long work on standard error: a bar on a terminal, a line every few seconds elsewhere, and
 * nothing for work that finishes at once.
 */
export function progressOf({ progress }: Pick<Terminal, 'progress'>, what: string): Progress {
  const { live, width, write } = progress;
  let last = performance.now();
  let drawn = false;

  const draw = (done: number, total: number | undefined) => {
    const count = total === undefined ? `${done}` : `${Math.min(done, total)}/${total}`;
    const room = Math.min(30, width() - what.length - count.length - 12);
    const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total);
    const full = Math.round(share * room);
    const bar =
      total === undefined || room < 5
        ? ''
        : ` [${'#'.repeat(full)}${'-'.repeat(room - full)}] ${Math.floor(share * 100)}%`;
    write(ERASE + `${what}${bar} ${count}`.slice(0, width() - 1));
    drawn = true;
  };

  return {
    at(done, total) {
      const now = performance.now();
      if (now - last < (live ? DRAWN : PRINTED)) return;
      last = now;
      if (live) draw(done, total);
      else write(`${what}: ${done}${total === undefined ? '' : ` of ${total}`}\n`);
    },
    done() {
      if (drawn) write(ERASE);
    },
  };
}

/**
 * Shows on a terminal that something of unknown length goes on, and for how long. Returns a function that removes it.
 * Elsewhere, nothing is shown.
 */
export function waitFor({ progress }: Pick<Terminal, 'progress'>, what: string): () => void {
  const { live, width, write } = progress;
  if (!live) return () => {};
  const begin = performance.now();
  let turn = 0;
  const timer = setInterval(() => {
    const seconds = (performance.now() - begin) / 1000;
    if (seconds * 1000 < SHORT) return;
    write(ERASE + `${WHEEL[turn++ % WHEEL.length]} ${what} (${Math.floor(seconds)} s)`.slice(0, width() - 1));
  }, DRAWN);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (turn > 0) write(ERASE);
  };
}
