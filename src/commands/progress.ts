import type { Terminal } from './terminal.ts';

export interface Progress {
  /** Updates the display. Without `total`, only the count is shown. */
  at(done: number, total?: number): void;
  /** Removes the bar, and prints the line if there is one. */
  done(line?: string): void;
}

/** Milliseconds between updates: of the bar on a terminal, and of the lines elsewhere. */
const DRAWN = 100;
const PRINTED = 5000;

/**
 * Shows the progress of long work on standard error: a bar on a terminal, a line every few seconds elsewhere, and
 * nothing for work that finishes at once.
 */
export function progressOf(
  { progress }: Pick<Terminal, 'progress'>,
  what: string,
  clock = performance.now.bind(performance),
): Progress {
  const { live, width, write } = progress;
  let last = clock();
  let drawn = false;

  const draw = (done: number, total: number | undefined) => {
    const count = total === undefined ? `${done}` : `${Math.min(done, total)}/${total}`;
    const room = Math.min(30, width - what.length - count.length - 12);
    const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total);
    const full = Math.round(share * room);
    const bar =
      total === undefined || room < 5
        ? ''
        : ` [${'#'.repeat(full)}${'-'.repeat(room - full)}] ${Math.floor(share * 100)}%`;
    write(`\r\u001b[2K${what}${bar} ${count}`);
    drawn = true;
  };

  return {
    at(done, total) {
      const now = clock();
      if (now - last < (live ? DRAWN : PRINTED)) return;
      last = now;
      if (live) draw(done, total);
      else write(`${what}: ${done}${total === undefined ? '' : ` of ${total}`}\n`);
    },
    done(line) {
      if (drawn) write('\r\u001b[2K');
      if (line !== undefined) write(`${line}\n`);
    },
  };
}
