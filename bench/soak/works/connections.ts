import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, postForm, registerApp } from '../../../test/support/app.ts';
import { createBrowser } from '../../../test/support/browser.ts';
import { type Answered, approved, read, refreshForm, type Tokens, token } from '../../../test/support/connection.ts';
import type { Connection, SoakMember } from '../ledger.ts';
import { again, insist, type Place, send } from '../place.ts';

/** Access token lifetime in a soak, in milliseconds. Short, so that tokens expire and are swept all the time. */
const ACCESS_LIFETIME = 300_000;
/** The replay window is over after this time, in milliseconds: a repeated refresh no longer gets the same response. */
const REPLAY_OVER = 65_000;
/**
 * Another replica learns that a window is over up to a quarter of it later, and after an outage of the store one more
 * quarter passes until it is written again. In milliseconds.
 */
const HEARD_OVER = 30_000;
/** After a crash, replicas may receive revocations late. In milliseconds. */
const HEARD = 10_000;

const any = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;

/** A member signs in if necessary and consents, and the app redeems the code. */
export async function signIn(place: Place): Promise<void> {
  const [member, app] = [any(place.members), any(place.apps)];
  const { form } = await again(place, async () => {
    const browser = randomInt(12) === 0 ? createBrowser() : browserOf(place, member);
    const came = await approved(app, { browser, member: member.login });
    place.browsers.get(member.id)?.push(browser);
    return came;
  });
  let attempts = 0;
  const answer = await insist(place, () => {
    attempts += 1;
    return token(app, form);
  });
  if (answer.status !== 200) {
    // An attempt whose response was lost may have redeemed the code.
    if (attempts === 1) place.ledger.fault('a code was refused', answer.body);
    return;
  }
  // A retry may come after the replay window, and would end the connection.
  if (randomInt(4) === 0) {
    const second = await token(app, form).catch(() => undefined);
    if (second?.status === 200) place.ledger.fault('a code was redeemed twice', second.body);
  }
  place.ledger.give({ member, app, tokens: answer.body, issuedAt: Date.now() });
}

function browserOf(place: Place, { id }: SoakMember) {
  const idle = place.browsers.get(id) ?? [];
  place.browsers.set(id, idle);
  // A few browsers stay signed in. Each is used for one visit at a time.
  return (idle.length > 4 ? idle.splice(0, idle.length - 4).at(-1) : idle.pop()) ?? createBrowser();
}

export async function refresh(place: Place): Promise<void> {
  const connection = place.ledger.take();
  if (connection === undefined) return;
  if (await renewed(place, connection)) place.ledger.give(connection);
}

/** Rotates the refresh token. Sometimes sends the request twice at once. Returns whether it succeeded. */
async function renewed(place: Place, connection: Connection): Promise<boolean> {
  const { app, tokens } = connection;
  const form = refreshForm(app, tokens.refresh_token);
  const ask = () => insist(place, () => token(app, form));
  const answers = await Promise.all(randomInt(10) === 0 ? [ask(), ask()] : [ask()]);
  const [first, second = first] = answers as [Answered<Tokens>, Answered<Tokens>?];
  if (first.status !== 200) {
    place.ledger.fault('a refresh token was lost', first.body);
    return false;
  }
  if (second.body.refresh_token !== first.body.refresh_token)
    place.ledger.fault('a repeated refresh got another token', second.body);
  connection.before = { refreshToken: tokens.refresh_token, at: Date.now() };
  connection.tokens = first.body;
  connection.issuedAt = Date.now();
  return true;
}

/** Uses a connection with a valid access token. `use` returns whether the grant is still active. */
export async function withConnection(
  place: Place,
  use: (connection: Connection, headers: Record<string, string>) => Promise<'live' | 'ended'>,
): Promise<void> {
  const connection = place.ledger.take();
  if (connection === undefined) return;
  if (Date.now() - connection.issuedAt > ACCESS_LIFETIME - 60_000 && !(await renewed(place, connection))) return;
  let state: 'live' | 'ended' = 'live';
  try {
    state = await use(connection, bearer(connection.tokens.access_token));
  } finally {
    if (state === 'live') place.ledger.give(connection);
  }
}

/** The app revokes either token. From then on, no token of the grant may be valid anywhere. */
export function revocation(place: Place): Promise<void> {
  return withConnection(place, async (connection) => {
    await revoke(place, connection);
    return 'ended';
  });
}

export async function revoke(place: Place, connection: Connection): Promise<void> {
  const { app, tokens } = connection;
  const given = randomInt(2) === 0 ? tokens.refresh_token : tokens.access_token;
  const form = { client_id: app.client.client_id, token: given };
  const answer = await insist(place, () => postForm(app.server.revocation_endpoint, form));
  await answer.arrayBuffer();
  if (answer.status !== 200) return place.ledger.fault('a revocation was refused', answer.status);
  place.ledger.end(connection);
  const until = Date.now() + place.hearsay;
  for (;;) {
    const opened = await opens(place, connection);
    if (!opened) return;
    if (Date.now() > until) return place.ledger.fault('a revoked token is accepted');
    await sleep(100);
  }
}

/** Presents a refresh token that was replaced long ago. That counts as token theft, so the grant must end. */
export function reuse(place: Place): Promise<void> {
  return withConnection(place, async (connection) => {
    const { app, before, tokens } = connection;
    const over = REPLAY_OVER + (place.hearsay === 0 ? 0 : HEARD_OVER);
    if (before === undefined || before.at > Date.now() - over) return 'live';
    const old = await insist(place, () => token(app, refreshForm(app, before.refreshToken)));
    if (old.body.error !== 'invalid_grant') place.ledger.fault('a replaced refresh token was accepted', old.body);
    const own = await insist(place, () => token(app, refreshForm(app, tokens.refresh_token)));
    if (own.body.error !== 'invalid_grant')
      place.ledger.fault('the grant was not ended by the reuse of a token', own.body);
    place.ledger.end(connection);
    return 'ended';
  });
}

/** A grant that has ended stays ended, for every use of its tokens. */
export async function endedStaysEnded(place: Place): Promise<void> {
  const connection = place.ledger.someEnded(place.hearsay + HEARD);
  if (connection === undefined) return;
  const { app, tokens } = connection;
  if (await opens(place, connection)) place.ledger.fault('an ended access token is accepted');
  const form = { client_id: app.client.client_id, token: tokens.access_token };
  const told = await insist(place, async () => read(await postForm(app.server.introspection_endpoint, form)));
  if (told.body.active !== false) place.ledger.fault('an ended access token is active', told);
  const renewal = await insist(place, () => token(app, refreshForm(app, tokens.refresh_token)));
  if (renewal.body.error !== 'invalid_grant') place.ledger.fault('an ended refresh token is accepted', renewal.body);
}

async function opens(place: Place, { tokens }: Connection): Promise<boolean> {
  const answer = await send(place, `${place.origin}/api/v1/whoami`, { headers: bearer(tokens.access_token) });
  if (answer.status !== 200 && answer.status !== 401) place.ledger.fault('unexpected status of whoami', answer.status);
  return answer.status === 200;
}

/** An app registers, and sometimes replaces another one. */
export async function registration(place: Place): Promise<void> {
  const app = await again(place, () => registerApp(place.origin));
  if (randomInt(10) === 0) place.apps.splice(randomInt(place.apps.length), 1, app);
}

/** Checks that every open connection works for its member and can be refreshed. Call it while no other work uses them. */
export async function everyOneHolds(place: Place): Promise<number> {
  const all: Connection[] = [];
  for (let one = place.ledger.take(); one !== undefined; one = place.ledger.take()) all.push(one);
  let next = 0;
  const lane = async () => {
    for (let one = all[next++]; one !== undefined; one = all[next++]) {
      if (!(await renewed(place, one))) continue;
      const headers = bearer(one.tokens.access_token);
      const answer = await send(place, `${place.origin}/echo/held`, { headers });
      const { member } = answer.status === 200 ? JSON.parse(answer.text) : { member: undefined };
      if (member !== one.member.id)
        place.ledger.fault('the token of an open connection is not valid', { status: answer.status, member });
      place.ledger.give(one);
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return all.length;
}
