import { createHash, randomBytes, randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { bearer } from '../../../test/support/app.ts';
import { type Answer, again, type Place, send } from '../place.ts';
import { withConnection } from './connections.ts';

const canary = () => `c${randomBytes(6).toString('hex')}`;

/** Checks a response of the echo backend: it must belong to this request and member, and must not contain a token. */
function judge(place: Place, answer: Answer, member: string, target: string, body?: Buffer): void {
  if (answer.status !== 200) {
    place.ledger.fault('a request was refused', [target, answer.status, answer.text]);
    return;
  }
  const said = JSON.parse(answer.text);
  const hash = body === undefined ? said.hash : createHash('sha256').update(body).digest('hex');
  if (said.member !== member || said.target !== target || said.hash !== hash || said.authorization !== undefined) {
    place.ledger.fault('a response for another member', { member, target, said });
  }
}

export function read(place: Place): Promise<void> {
  return withConnection(place, async ({ member }, headers) => {
    const target = `/echo/${canary()}?page=${randomInt(9)}`;
    judge(place, await send(place, place.origin + target, { headers }), member.id, target);
    return 'live';
  });
}

export function write(place: Place): Promise<void> {
  return withConnection(place, async ({ member }, headers) => {
    const target = `/echo/${canary()}`;
    const body = randomBytes(randomInt(1, 64 * 1024));
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/octet-stream' }, body };
    judge(place, await send(place, place.origin + target, sent), member.id, target, body);
    return 'live';
  });
}

export async function anonymous(place: Place): Promise<void> {
  const target = `/open/${canary()}`;
  judge(place, await send(place, place.origin + target), 'nobody', target);
}

/** Reads the member's data from the school, and a page of the catalogue. */
export function school(place: Place): Promise<void> {
  return withConnection(place, async ({ member }, headers) => {
    const who = await send(place, `${place.origin}/api/v1/whoami`, { headers });
    if (who.status !== 200 || !who.text.includes(member.id)) place.ledger.fault('whoami', [who.status, who.text]);
    const courses = await send(place, `${place.origin}/api/v1/courses?per_page=5`, { headers });
    if (courses.status !== 200) place.ledger.fault('courses', [courses.status, courses.text]);
    return 'live';
  });
}

const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
const QUERY =
  '{ viewer { id email enrolledCourses(first: 2) { nodes { slug lastWatchedLecture { lectureId positionSeconds } } } } }';

export function account(place: Place): Promise<void> {
  return withConnection(place, async ({ member }, headers) => {
    const answer = await again(place, async () => {
      const told = await send(place, `${place.origin}/account/graphql`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: QUERY }),
      });
      // These fields are served by this process, which may be too busy.
      if (told.text.includes(UNAVAILABLE)) throw new Error(UNAVAILABLE);
      return told;
    });
    const viewer = answer.status === 200 ? JSON.parse(answer.text).data?.viewer : undefined;
    const own =
      viewer?.id === member.id && viewer.email === member.email && Array.isArray(viewer.enrolledCourses?.nodes);
    if (!own) place.ledger.fault('the account of another member', [answer.status, answer.text.slice(0, 500)]);
    return 'live';
  });
}

/** Requests that must be refused. */
export async function refusals(place: Place): Promise<void> {
  const bad = await send(place, `${place.origin}/echo/x`, { headers: bearer(randomBytes(32).toString('base64url')) });
  if (bad.status !== 401 || !bad.headers.get('www-authenticate')?.includes('invalid_token')) {
    place.ledger.fault('an invalid token was not refused', [bad.status, bad.text]);
  }
  const none = await send(place, `${place.origin}/echo/x`);
  if (none.status !== 401) place.ledger.fault('a request without a token was not refused', none.status);
  const lost = await send(place, `${place.origin}/no-such-page-${canary()}`);
  if (lost.status !== 404) place.ledger.fault('a missing page was not 404', lost.status);
  await withConnection(place, async (_connection, headers) => {
    const more = await send(place, `${place.origin}/staff/x`, { headers });
    if (more.status !== 403) place.ledger.fault('a scope that was not granted was accepted', [more.status, more.text]);
    return 'live';
  });
  await unreadable(place);
}

/** Invalid HTTP: gets 400 or is disconnected, and leaves nothing open. */
function unreadable(place: Place): Promise<void> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(place.origin);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
    socket.resume();
  });
}

/** A WebSocket of the site that echoes a word. */
export function webSocket(place: Place): Promise<void> {
  return again(place, async () => {
    const socket = new WebSocket(`${place.origin.replace('http', 'ws')}/ws/echo`);
    const word = canary();
    const heard = new Promise<string>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', (code) => reject(new Error(`the socket was closed: ${code}`)));
      socket.once('message', (data) => resolve(String(data)));
      socket.once('open', () => socket.send(word));
    });
    try {
      if ((await heard) !== word) place.ledger.fault('a WebSocket message of another member');
    } finally {
      socket.terminate();
    }
  });
}

/** Requests that monitoring sends all the time. */
export async function operator(place: Place): Promise<void> {
  if (place.admin === undefined) return;
  for (const path of ['/metrics', '/readyz', '/livez']) {
    const answer = await send(place, place.admin + path);
    if (answer.status !== 200) place.ledger.fault(path, [answer.status, answer.text]);
  }
}
