import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, field } from './answer.ts';
import type { Ask } from './ask.ts';
import type { Registrations } from './registrations.ts';
import type { TlsView } from './tls-view.ts';
import { Unavailable } from './unavailable.ts';

/** The deployment that is looked at, and how it may be asked. */
export interface Site {
  readonly origin: string;
  /** The path a person gave, without a slash at its end; '' for the origin itself. */
  readonly path: string;
  /** Asks, and waits once when told to ask later. Throws Unavailable when told so twice. */
  readonly ask: Ask;
  /** Asks, and takes every answer as it is. */
  readonly askAsIs: Ask;
  /** What TLS says of the site, and of it by HTTP/2; only where it is asked by https. */
  readonly tls: { readonly view: () => Promise<TlsView>; readonly statusByHttp2: (url: string) => Promise<number> };
  /** Where plain http to the same host stands; undefined when the site itself is plain. */
  readonly plainOrigin: string | undefined;
  /** What was registered for the audit; undefined when nothing may be. */
  readonly registrations: Registrations | undefined;
  /** Milliseconds since 1970, by this machine. */
  readonly now: () => number;
}

/** Seconds that are waited for a site which asks for it; longer is not worth anybody's time. */
const LONGEST_WAIT = 5;

/** An `ask` that does as a 429 says (RFC 6585 §4): a limit of requests is no finding of what was asked. */
export function patiently(ask: Ask, signal: AbortSignal): Ask {
  return async (url, question) => {
    const answer = await ask(url, question);
    if (answer.status !== 429) return answer;
    const seconds = Number(field(answer, 'retry-after') || 1);
    if (!(seconds <= LONGEST_WAIT)) throw tooMany(answer);
    await sleep(Math.max(seconds, 0) * 1000, undefined, { signal }).catch(() => {
      throw new Unavailable('the time for the whole audit was over');
    });
    const again = await ask(url, question);
    if (again.status === 429) throw tooMany(again);
    return again;
  };
}

function tooMany(answer: Answer): Unavailable {
  const later = field(answer, 'retry-after');
  const wait = later === '' ? '' : `, to ask again in ${later} seconds`;
  return new Unavailable(`the site said that it was asked too often (429${wait})`);
}
