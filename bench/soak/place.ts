import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../test/support/app.ts';
import type { Browser } from '../../test/support/browser.ts';
import type { Ledger, SoakMember } from './ledger.ts';

/** Where the load goes, and what its clients have. */
export interface Place {
  readonly origin: string;
  readonly ledger: Ledger;
  readonly members: readonly SoakMember[];
  /** The apps that members connect; some are replaced as time goes by. */
  readonly apps: App[];
  /** Browsers that nobody uses just now, by the id of the member who is signed in there. */
  readonly browsers: Map<string, Browser[]>;
  /** Whether something was killed just now: then requests may fail, and are tried again. */
  readonly ill: () => boolean;
  /** Whether the load is about to end: what lasts is to be cut short. */
  readonly over: () => boolean;
  /** How long another replica may believe a token that was revoked here; milliseconds, 0 with one gate. */
  readonly hearsay: number;
  /** The admin listener of the gate that is measured; undefined: nobody asks there. */
  readonly admin: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Less than the longest replay window, within which the same request gets the same answer. */
const PATIENCE = 45_000;

/** Sends a request, and again after a failure or a 502, 503 or 504, as a client should. Throws when there is no answer for long. */
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

/** Does it again after whatever went wrong, until it succeeds or the patience of a client is over. */
export async function again<T>(place: Place, work: () => Promise<T>): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const { cause, message } = thrown as Error & { cause?: { code?: string } };
      const what = cause?.code ?? message.slice(0, 120);
      place.ledger.troubled(what, place.ill());
      if (Date.now() - began > PATIENCE) throw new Error(`no answer for 45 s: ${what}`);
      await sleep(250);
    }
  }
}
