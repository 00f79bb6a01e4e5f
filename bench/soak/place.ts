import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../test/support/app.ts';
import type { Browser } from '../../test/support/browser.ts';
import type { Ledger, SoakMember } from './ledger.ts';

/** The target of the load, and the state of its clients. */
export interface Place {
  readonly origin: string;
  readonly ledger: Ledger;
  readonly members: readonly SoakMember[];
  /** The apps that members connect. Some are replaced over time. */
  readonly apps: App[];
  /** Idle browsers, by the ID of the member who is signed in. */
  readonly browsers: Map<string, Browser[]>;
  /** Whether a process was killed recently. Requests may fail then and are retried. */
  readonly ill: () => boolean;
  /** Whether the load is about to end. Long-running work should stop early then. */
  readonly over: () => boolean;
  /** How long another replica may accept a token that was revoked here, in milliseconds; 0 with one gate. */
  readonly hearsay: number;
  /** The admin listener of the measured gate; undefined: the admin endpoints are not part of the load. */
  readonly admin: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Shorter than the replay window, in which a repeated refresh gets the same response. */
const PATIENCE = 45_000;

/** Sends a request, and retries it after a failure, 502, 503 or 504. Throws if there is no response within PATIENCE. */
export async function send(place: Place, url: string, init: RequestInit = {}): Promise<Answer> {
  return insist(place, async () => {
    const response = await fetch(url, { redirect: 'manual', ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
}

export async function insist<T extends { readonly status: number }>(place: Place, ask: () => Promise<T>): Promise<T> {
  return again(place, async () => {
    const answer = await ask();
    if (answer.status >= 502 && answer.status <= 504) throw new Error(`status ${answer.status}`);
    return answer;
  });
}

/** Retries the work after any error, until it succeeds or PATIENCE is over. */
export async function again<T>(place: Place, work: () => Promise<T>): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const { cause, message } = thrown as Error & { cause?: { code?: string } };
      const what = cause?.code ?? message.slice(0, 120);
      place.ledger.troubled(what, place.ill());
      if (Date.now() - began > PATIENCE) throw new Error(`no response for 45 s: ${what}`);
      await sleep(250);
    }
  }
}
