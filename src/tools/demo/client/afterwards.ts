import { ConnectError } from '../../connect/connect-error.ts';
import { readCourses } from '../../connect/courses.ts';
import type { RegisteredClient } from '../../connect/oauth/registration.ts';
import { introspectToken, isTokenRefused, refreshTokens, revokeToken, userinfo } from '../../connect/oauth/tokens.ts';
import { lifetime, read } from './flow.ts';
import { keepTokens, take, type Walk } from './walk.ts';

type Tokens = NonNullable<Walk['tokens']>;
type Action = (walk: Walk, tokens: Tokens, client: RegisteredClient) => Promise<void>;

/** The actions for a connected app: the page's buttons, by the last segment of their path. */
export const ACTIONS: Readonly<Record<string, (walk: Walk) => Promise<void>>> = {
  courses: connected((walk, tokens) => (walk.revoked ? readAnyway(walk, tokens) : read(walk))),
  refresh: connected(refresh),
  introspect: connected(introspect),
  userinfo: connected(askWho),
  revoke: connected(revoke),
};

/** Runs an action only for a walk with a token. Without one, as on an outdated page, it does nothing. */
function connected(action: Action): (walk: Walk) => Promise<void> {
  return async (walk) => {
    const { client, tokens } = walk;
    if (client !== undefined && tokens !== undefined) await action(walk, tokens, client);
  };
}

async function refresh(walk: Walk, tokens: Tokens, client: RegisteredClient): Promise<void> {
  await take(walk, 'refresh', async (http, step) => {
    if (tokens.refresh === undefined) {
      throw new ConnectError('The school issued no refresh token.', 'Connect again when the access token has expired.');
    }
    const answer = await refreshTokens(client, tokens.refresh, http);
    keepTokens(walk, answer);
    step.facts.push(lifetime(answer));
    return answer;
  });
}

async function introspect(walk: Walk, tokens: Tokens, client: RegisteredClient): Promise<void> {
  await take(walk, 'introspect', async (http, step) => {
    const answer = await introspectToken(client, tokens.access, http);
    step.facts.push(
      answer.active ? 'The token is active.' : 'The token is not active: it will not be accepted anywhere.',
    );
    if (answer.aud !== undefined) step.facts.push(`It is bound to ${[answer.aud].flat().join(', ')}.`);
    return answer;
  });
}

async function askWho(walk: Walk, tokens: Tokens, client: RegisteredClient): Promise<void> {
  await take(walk, 'userinfo', async (http, step) => {
    const answer = await userinfo(client, tokens.access, walk.subject, http);
    step.facts.push(`The member is ${answer.email ?? answer.name ?? answer.sub}.`);
    return answer;
  });
}

/** Revokes both tokens. The access token is kept in memory only to show that it is refused. */
async function revoke(walk: Walk, tokens: Tokens, client: RegisteredClient): Promise<void> {
  if (walk.revoked) return;
  const done = await take(walk, 'revoke', async (http, step) => {
    for (const token of [tokens.refresh, tokens.access]) {
      if (token !== undefined) await revokeToken(client, token, http);
    }
    step.facts.push('The school answers the same for known and unknown tokens: guessing reveals nothing.');
    return step;
  });
  if (done === undefined) return;
  walk.revoked = true;
  walk.courses = undefined;
}

/** Reads with the revoked token. Here a refusal is the success, and data would be a failure. */
async function readAnyway(walk: Walk, tokens: Tokens): Promise<void> {
  await take(walk, 'refused', async (http, step) => {
    try {
      await readCourses(walk.gate, tokens.access, tokens.scope, http);
    } catch (thrown) {
      if (!isTokenRefused(thrown)) throw thrown;
      step.facts.push('Refused, as it should be: the token no longer works.');
      return step;
    }
    throw new ConnectError(
      'The school still accepted a revoked token.',
      'Its replicas may learn of a revocation a few seconds late: try again.',
    );
  });
}
