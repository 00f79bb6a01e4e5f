import { randomBytes, randomInt } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../../../test/support/app.ts';
import type { Place } from '../place.ts';
import { revoke, withConnection } from './connections.ts';

/** Milliseconds. Well below what an access token lives, which ends its streams. */
const LONGEST = 45_000;
/** What the end of a grant may take to reach its streams, on a machine that is busy. */
const CUT_WITHIN = 15_000;

interface Listening {
  /** Complete events so far. */
  readonly events: () => readonly string[];
  readonly ended: Promise<void>;
  leave(): void;
}

/** A stream, of a member or of nobody, that is left after a while; each event on it must be its own. */
export async function stream(place: Place): Promise<void> {
  if (randomInt(3) === 0) return follow(place, 'nobody', {});
  await withConnection(place, async ({ member, tokens }) => {
    // Others may use the connection meanwhile, and end it: this is another client of the same app.
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
  if (other !== undefined) place.ledger.fault('an event of somebody else', { own, other });
  if (listening.events().length > 0) place.ledger.counted('streams heard');
}

/** A stream whose grant is revoked while it is open ends. */
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
        // Its connection may have been ended by another client between the two.
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
