import { ConnectError } from '../../connect/connect-error.ts';
import { readCourses } from '../../connect/courses.ts';
import type { RegisteredClient } from '../../connect/oauth/registration.ts';
import {
  introspectToken,
  isGrantGone,
  isTokenRefused,
  refreshTokens,
  revokeToken,
} from '../../connect/oauth/tokens.ts';
import type { Transport } from '../../connect/oauth/transport.ts';
import { lifetime, read } from './flow.ts';
import type { LessonName } from './lessons.ts';
import { keepTokens, refusedAs, take, type Walk } from './walk.ts';

/** A connected walk, during one step. What the step found goes into `facts`. */
interface Connected {
  readonly walk: Walk;
  readonly tokens: NonNullable<Walk['tokens']>;
  readonly client: RegisteredClient;
  readonly http: Transport;
  readonly facts: string[];
}

/** The actions for a connected app: the page's buttons, by the last segment of their path. */
export const ACTIONS: Readonly<Record<string, (walk: Walk) => Promise<unknown>>> = {
  courses: (walk) => (walk.revoked ? readAnyway(walk) : readOrNotice(walk)),
  refresh: refreshOrNotice,
  introspect: connected('introspect', async ({ tokens, client, http, facts }) => {
    const { active, aud } = await introspectToken(client, tokens.access, http);
    facts.push(active ? 'The token is active.' : 'The token is not active: it will not be accepted anywhere.');
    if (aud !== undefined) facts.push(`It is bound to ${[aud].flat().join(', ')}.`);
  }),
  // Revokes both tokens. The access token is kept in memory only to show that it is refused.
  revoke: connected('revoke', async ({ walk, tokens, client, http, facts }) => {
    for (const token of [tokens.refresh, tokens.access]) {
      if (token !== undefined) await revokeToken(client, token, http);
    }
    facts.push('The school answers the same for known and unknown tokens: guessing reveals nothing.');
    walk.revoked = true;
    walk.courses = undefined;
  }),
};

/**
 * Reads with the current token. If it is refused, it may only have expired, so Study Buddy refreshes it once, and learns
 * at the latest then that the member has disconnected it.
 */
async function readOrNotice(walk: Walk): Promise<void> {
  await read(walk);
  if (
    !refusedAs(walk, isTokenRefused, 'Refused: the access token is no longer valid. Study Buddy tries to refresh it.')
  )
    return;
  if (await refreshOrNotice(walk)) await read(walk);
}

/** Returns whether there are new tokens. */
async function refreshOrNotice(walk: Walk): Promise<boolean> {
  const before = walk.tokens;
  await refresh(walk);
  if (refusedAs(walk, isGrantGone, 'Refused: the connection is over. Study Buddy stops using its tokens.')) {
    walk.disconnected = true;
    walk.courses = undefined;
    delete walk.tokens;
  }
  return walk.tokens !== undefined && walk.tokens !== before;
}

const refresh = connected('refresh', async ({ walk, tokens, client, http, facts }) => {
  if (tokens.refresh === undefined) {
    throw new ConnectError('The school issued no refresh token.', 'Connect again when the access token has expired.');
  }
  const answer = await refreshTokens(client, tokens.refresh, http);
  keepTokens(walk, answer);
  facts.push(lifetime(answer));
});

/** Reads with the revoked token. Here a refusal is the success, and data would be a failure. */
const readAnyway = connected('refused', async ({ walk, tokens, http, facts }) => {
  try {
    await readCourses(walk.gate, tokens.access, tokens.scope, http);
  } catch (thrown) {
    if (!isTokenRefused(thrown)) throw thrown;
    facts.push('Refused, as it should be: the token no longer works.');
    return;
  }
  throw new ConnectError(
    'The school still accepted a revoked token.',
    'Its replicas may learn of a revocation a few seconds late: try again.',
  );
});

/** Runs a step only for a walk with a token. Without one, as on an outdated page, it does nothing. */
function connected(lesson: LessonName, work: (connected: Connected) => Promise<void>): (walk: Walk) => Promise<void> {
  return async (walk) => {
    const { client, tokens } = walk;
    if (client === undefined || tokens === undefined) return;
    await take(walk, lesson, async (http, { facts }) => {
      await work({ walk, tokens, client, http, facts });
      return facts;
    });
  };
}
