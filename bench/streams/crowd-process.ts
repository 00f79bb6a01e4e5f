import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CrowdSays, CrowdTold } from './crowd.ts';

export const WITHIN = 120_000;

/** The client process, and its latest report. */
export class Crowd {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('crowd.ts', import.meta.url)));
  says: CrowdSays = { open: 0, begun: 0, ticks: 0, ended: {}, refused: {} };

  constructor() {
    this.#child.on('message', (says: CrowdSays) => {
      this.says = says;
    });
  }

  tell(told: CrowdTold): void {
    this.#child.send(told);
  }

  /** Opens streams, and returns the seconds until all have received their first event. */
  async open(order: Omit<Extract<CrowdTold, { do: 'open' }>, 'do'>): Promise<number> {
    const [began, before] = [performance.now(), this.says.begun];
    this.tell({ do: 'open', ...order });
    await this.until(({ begun }) => begun - before === order.streams, `${order.streams} streams are open`);
    return (performance.now() - began) / 1000;
  }

  async until(holds: (says: CrowdSays) => boolean, what: string): Promise<void> {
    for (const deadline = Date.now() + WITHIN; !holds(this.says); await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`not in time: ${what}; ${JSON.stringify(this.says)}`);
    }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** Sends an event to each stream of `of`, evenly over `spread` milliseconds. Returns the number of events. */
export async function tick(sourcePort: number, of: string, spread: number): Promise<number> {
  const query = new URLSearchParams({ of, spread: String(spread) });
  const response = await fetch(`http://127.0.0.1:${sourcePort}/tick?${query}`, { method: 'POST' });
  return Number(await response.text());
}
