import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { App } from '../support/app.ts';
import { refreshForm, type Tokens, token } from '../support/connection.ts';

export interface LoadReport {
  readonly rotated: number;
  readonly unavailable: number;
  /** Milliseconds. */
  readonly slowestAnswer: number;
  /** The longest time, in milliseconds, in which no client got tokens. */
  readonly outage: number;
}

/**
 * Clients that rotate their refresh tokens as fast as they can while something happens. Each behaves as a client should
 * and retries a 503 with its current token. Any other error would sign a member out, and fails the test.
 * Takes the connections, and returns the final tokens in the same order.
 */
export async function refreshWhile(app: App, held: Tokens[], ill: () => Promise<void>): Promise<LoadReport> {
  const report = { rotated: 0, unavailable: 0, slowestAnswer: 0, outage: 0 };
  let lastSuccess = performance.now();
  let over = false;

  const client = async (at: number) => {
    let since = 0;
    while (!over || since < 2) {
      expect(performance.now() - lastSuccess, 'it does not work again').toBeLessThan(60_000);
      const asked = performance.now();
      const answer = await token(app, refreshForm(app, held[at]?.refresh_token));
      const now = performance.now();
      report.slowestAnswer = Math.max(report.slowestAnswer, Math.round(now - asked));
      if (answer.status === 503) {
        report.unavailable += 1;
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(answer.body.error).toBe('temporarily_unavailable');
        await sleep(20);
        continue;
      }
      expect(answer, 'signed out').toMatchObject({ status: 200 });
      report.outage = Math.max(report.outage, Math.round(now - lastSuccess));
      lastSuccess = now;
      report.rotated += 1;
      held[at] = answer.body;
      if (over) since += 1;
      await sleep(5);
    }
  };

  const clients = held.map((_, at) => client(at));
  const happening = ill().finally(() => {
    over = true;
  });
  await Promise.all([...clients, happening]);
  return report;
}
