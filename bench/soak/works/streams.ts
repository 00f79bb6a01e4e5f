import { randomBytes, randomInt } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../../../test/support/app.ts';
import type { Place } from '../place.ts';
import { revoke, withConnection } from './connections.ts';

/** In milliseconds. Well below the lifetime of an access token, whose expiry ends its streams. */
const LONGEST = 45_000;
/** How long it may take until the end of a grant ends its streams, on a busy machine. */
const CUT_WITHIN = 15_000;

interface Listening {
  /** Complete events so far. */
  readonly events: () => readonly string[];
  readonly ended: Promise<void>;
  leave(): void;
}

/** A stream with or without a member, closed after a while. Every event must belong to it. */
export async function stream(place: Place): Promise<void> {
  if (randomInt(3) === 0) return follow(place, 'nobody', {});
  await withConnection(place, async ({ member, tokens }) => {
    // Other work may use the connection at the same time and end it, as another client of the same app could.
    void follow(place, member.id, bearer(tokens.access_token)).catch(() => undefined);
    return 'live';
  });
}

async function follow(place: Place, member: string, headers: Record<string, string>): Promise<void> {
  const target = `/events/${randomBytes(6).toString('hex')}`;
  const listening = await listen(place, target, headers);
  if (listening === undefined) return;
  const until = Date.now() + randomInt(LONGEST);
  let gone = false;
  void listening.ended.then(() => {
    gone = true;
  });
  while (Date.now() < until && !gone && !place.over()) await Promise.race([sleep(1_000), listening.ended]);
  listening.leave();
  const own = JSON.stringify({ member, target });
  const other = listening.events().find((event) => event !== own);
  if (other !== undefined) place.ledger.fault('an event of another member', { own, other });
  if (listening.events().length > 0) place.ledger.counted('streams heard');
}

/** An open stream must end when its grant is revoked. */
export function streamCut(place: Place): Promise<void> {
  return withConnection(place, async (connection) => {
    const listening = await listen(place, '/events/cut', bearer(connection.tokens.access_token));
    if (listening === undefined) return 'live';
    const wasIll = place.ill();
    await revoke(place, connection);
    const timer = new AbortController();
    const late = sleep(CUT_WITHIN, 'late', { signal: timer.signal }).catch(() => undefined);
    if ((await Promise.race([listening.ended, late])) === 'late' && !wasIll && !place.ill()) {
      place.ledger.fault('a stream outlived its grant');
    }
    timer.abort();
    listening.leave();
    return 'ended';
  });
}

function listen(place: Place, target: string, headers: Record<string, string>): Promise<Listening | undefined> {
  return new Promise((resolve) => {
    const request = get(place.origin + target, { agent: false, headers });
    request.once('error', ({ message }) => {
      place.ledger.troubled(`stream: ${message}`, place.ill());
      resolve(undefined);
    });
    request.once('response', (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) {
        answer.resume();
        // Another client may have ended the connection in between.
        if (answer.statusCode !== 401) place.ledger.troubled(`stream: ${answer.statusCode}`, place.ill());
        resolve(undefined);
        return;
      }
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', () => undefined);
      const ended = new Promise<void>((done) => answer.once('close', done));
      resolve({
        events: () => [...text.matchAll(/^data: (.*)\n\n/gm)].map((match) => match[1] ?? ''),
        ended,
        leave: () => request.destroy(),
      });
    });
  });
}
