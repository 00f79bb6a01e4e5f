import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectError } from './connect-error.ts';
import { type ConnectOptions, openConnection, type Run, revokeAll } from './connection.ts';
import { explain } from './oauth/explain.ts';
import { introspectToken, isTokenRefused, refreshTokens, type TokenResponse } from './oauth/tokens.ts';
import { placesOf, type TokenUse } from './places.ts';

export type { ConnectOptions } from './connection.ts';

/** Seconds within which a revocation must reach every replica. */
const REVOCATION_REACH = 5;
/**
 * Runs the whole flow against a site as any client would: discover, register, sign in, read what the site offers,
 * refresh, revoke. A token that works is success: what cannot be read with it is reported and does not fail the run.
 * Throws ConnectError when a step fails, the member denies access, time runs out or `signal` aborts.
 */
export async function connect(options: ConnectOptions): Promise<void> {
  const connection = await openConnection(options);
  const { run, first, scope, issued } = connection;
  const { print, step } = run;
  let works = '';
  try {
    const { isAccepted, complete } = await useToken(run, first, scope);
    const last = await refreshOnce(run, first);
    if (last !== first) issued.push(last);
    await step('Revoking the tokens', () => revokeAll(run.client, issued, run.http));
    issued.length = 0;
    await step('Checking that the token was revoked', () => requireDead(run, last, isAccepted));
    works = complete
      ? 'Everything works.'
      : 'The connection works. Lines that begin with – say what could not be read.';
  } finally {
    if (await connection.close()) print('✓ Registration deleted');
  }
  print(`✓ ${works}`);
}

/** Whether the site still accepts a token. */
type IsAccepted = (token: string) => Promise<boolean>;

interface Used {
  readonly isAccepted: IsAccepted;
  readonly complete: boolean;
}

/**
 * Reads everything that the token opens and prints it. Returns how to find out later whether a token is accepted, and
 * whether everything could be read. Throws ConnectError if nothing accepts the token.
 */
async function useToken(run: Run, { access_token: token, scope }: TokenResponse, asked: string): Promise<Used> {
  const { origin, server, offer, client, http, print, result, signal } = run;
  let working: TokenUse | undefined;
  let complete = true;
  for (const place of placesOf(origin, { server, offer, scopes: (scope ?? asked).split(' ') }, http)) {
    const begin = performance.now();
    try {
      const lines = await place.read(token);
      if (lines === undefined) continue;
      print(`✓ ${place.doing} (${Math.round(performance.now() - begin)} ms)`);
      for (const line of lines) result(line);
      working ??= place;
    } catch (thrown) {
      if (signal?.aborted === true) throw explain(thrown, place.doing);
      const { message, advice } = explain(thrown, place.doing);
      print(`– ${message} ${advice}`);
      complete = false;
    }
  }
  if (working !== undefined) return { isAccepted: (later) => isAcceptedAt(working, later), complete };
  const isActive: IsAccepted = async (later) => (await introspectToken(client, later, http)).active;
  await run.step('Checking that the token is active', async () => {
    if (server.introspection_endpoint !== undefined && (await isActive(token))) return;
    throw new ConnectError(
      'The site issued a token, but nothing there accepts it.',
      'Check that the paths of the gate reach it.',
    );
  });
  return { isAccepted: isActive, complete };
}

async function isAcceptedAt(place: TokenUse, token: string): Promise<boolean> {
  try {
    await place.read(token);
    return true;
  } catch (thrown) {
    if (isTokenRefused(thrown)) return false;
    throw thrown;
  }
}

/** Tests a refresh and returns the newest tokens. A site that issues no refresh token does not fail the run. */
async function refreshOnce({ client, print, step, http }: Run, first: TokenResponse): Promise<TokenResponse> {
  const token = first.refresh_token;
  if (token !== undefined) return step('Refreshing the token', () => refreshTokens(client, token, http));
  print('– No refresh token was issued: nothing to refresh');
  return first;
}

/** Throws ConnectError when a revoked token is still accepted after REVOCATION_REACH. */
async function requireDead({ signal }: Run, token: TokenResponse, isAccepted: IsAccepted): Promise<void> {
  for (let second = 0; second <= REVOCATION_REACH; second += 1) {
    if (second > 0) await sleep(1000, undefined, signal === undefined ? {} : { signal });
    if (!(await isAccepted(token.access_token))) return;
  }
  throw new ConnectError(
    `The site still accepted the token ${REVOCATION_REACH} seconds after it was revoked.`,
    'Members cannot disconnect an app: check that all replicas share one store, and how long they cache.',
  );
}
