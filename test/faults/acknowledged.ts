import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../support/app.ts';
import { connect, refreshForm, type Tokens } from '../support/connection.ts';
import { insistently } from './patiently.ts';
import type { ThreeGates } from './three-gates.ts';

const CLIENTS = 8;

/** Between two requests of one client, in milliseconds. */
const PAUSE = 20;

/** How often a sign-in is begun again: while the store fails over, each fails at once. */
const SIGN_INS = 300;

/** Access tokens that expire sooner are not used at the end, which takes a while. */
const REMAINING = 120_000;

/** What was acknowledged and then refused, or was revoked and then accepted. */
interface Lost {
  readonly what: 'refresh token' | 'access token' | 'revocation';
  readonly acknowledgedAt: number;
  /** What the gate said. */
  readonly said: unknown;
}

/** What clients were told, and what of it was not true later. Times are in milliseconds of `performance.now()`. */
export interface Acknowledged {
  readonly counts: { signedIn: number; refreshed: number; revoked: number; checked: number };
  readonly lost: ReadonlyMap<string, Lost>;
}

interface Noted {
  readonly token: string;
  readonly acknowledgedAt: number;
  readonly expiresAt: number;
}

/**
 * Clients that sign in, refresh, revoke and check tokens at three gates while `faults` happen. Afterwards each token that
 * they were given, and each that was revoked, is used at each gate.
 */
export async function acknowledgedDuring(
  { app, numbers, ask }: ThreeGates,
  faults: () => Promise<void>,
): Promise<Acknowledged> {
  const counts = { signedIn: 0, refreshed: 0, revoked: 0, checked: 0 };
  const lost = new Map<string, Lost>();
  const given: Noted[] = [];
  const revoked: (Noted & { readonly refreshToken: string })[] = [];
  let over = false;

  const note = (token: string): Noted => {
    const now = performance.now();
    return { token, acknowledgedAt: now, expiresAt: now + 600_000 };
  };
  const post = (path: string, form: Record<string, string | undefined>, number?: number) =>
    ask(path, { method: 'POST', body: new URLSearchParams(JSON.parse(JSON.stringify(form))) }, number);
  const refresh = (refreshToken: string, number?: number) =>
    post('/api/oauth/token', refreshForm(app, refreshToken), number);
  const statusAt = async (token: string, number?: number) => {
    counts.checked += 1;
    return (await ask('/api/v1/whoami', { headers: bearer(token) }, number)).status;
  };
  const signIn = async () => {
    const tokens = (await insistently(() => connect(app), SIGN_INS)) as unknown as Tokens;
    counts.signedIn += 1;
    return tokens;
  };

  /** Refreshes at any gate, until the end. Returns the tokens that are the last. */
  const refresher = async (): Promise<Noted> => {
    for (;;) {
      let tokens = await signIn();
      for (;;) {
        const held = note(tokens.refresh_token);
        given.push(note(tokens.access_token));
        if (over) return held;
        await sleep(PAUSE);
        const { status, body } = await refresh(held.token);
        if (status !== 200) {
          lost.set(held.token, { what: 'refresh token', said: body, ...held });
          break;
        }
        counts.refreshed += 1;
        tokens = body as unknown as Tokens;
      }
    }
  };
  const revoker = async (): Promise<void> => {
    while (!over) {
      const { access_token, refresh_token } = await signIn();
      const { status } = await post('/api/oauth/revoke', { client_id: app.client.client_id, token: refresh_token });
      if (status !== 200) throw new Error(`a revocation was answered ${status}`);
      counts.revoked += 1;
      revoked.push({ ...note(access_token), refreshToken: refresh_token });
      await sleep(PAUSE);
    }
  };
  const works = async (noted: Noted, number?: number): Promise<void> => {
    const status = await statusAt(noted.token, number);
    if (status !== 200) lost.set(noted.token, { what: 'access token', said: status, ...noted });
  };
  const checker = async (): Promise<void> => {
    while (!over) {
      const noted = given[Math.floor(Math.random() * given.length)];
      if (noted !== undefined) await works(noted);
      await sleep(PAUSE);
    }
  };

  const refreshers = Array.from({ length: CLIENTS }, refresher);
  const others = [revoker(), revoker(), checker(), checker()];
  const happening = faults().finally(() => {
    over = true;
  });
  const [last] = await Promise.all([Promise.all(refreshers), happening, ...others]);

  const usable = given.filter(({ expiresAt }) => expiresAt - performance.now() > REMAINING);
  for (const number of numbers) {
    await inParallel(usable, (noted) => works(noted, number));
    await inParallel(revoked, async ({ refreshToken, ...noted }) => {
      const restored = (said: unknown) => lost.set(noted.token, { what: 'revocation', said, ...noted });
      if ((await statusAt(noted.token, number)) !== 401) restored('its access token works');
      const { status, body } = await refresh(refreshToken, number);
      if (status !== 400 || body.error !== 'invalid_grant') restored(body);
    });
  }
  await inParallel(last, async (noted) => {
    let token = noted.token;
    for (const number of numbers) {
      const { status, body } = await refresh(token, number);
      if (status !== 200) return void lost.set(noted.token, { what: 'refresh token', said: body, ...noted });
      token = String(body.refresh_token);
    }
  });
  return { counts, lost };
}

async function inParallel<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = [...all];
  const worker = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await work(one);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
