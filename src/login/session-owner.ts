import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { cookieFilter } from './cookies.ts';
import { createWhoami } from './whoami/whoami.ts';

/** Whose session a cookie stands for, and the cookies that the answer set. */
type SessionOwner = (
  cookie: string,
) => Promise<{ readonly sub: string | undefined; readonly setCookie: readonly string[] }>;

/**
 * Asks the backend's whoami whose session a kept cookie is, with no browser there. Throws GatewayError
 * `login_unavailable` when it cannot say, as for every login but `session`, which shows us no session to keep.
 */
export function sessionOwner(login: Config['login'], call: CallUpstream): SessionOwner {
  if (login.kind !== 'session') return () => Promise.reject(new GatewayError('login_unavailable'));
  const whoami = createWhoami(login.whoami);
  const listed = cookieFilter(login.cookies);
  return async (cookie) => {
    const answer = await call({
      upstream: login.upstream,
      method: 'GET',
      path: login.whoami.path,
      headers: { cookie: listed(cookie), accept: whoami.accept },
    }).catch((thrown: unknown) => {
      throw new GatewayError('login_unavailable', { cause: thrown });
    });
    const setCookie = answer.headers['set-cookie'];
    return { sub: whoami.read(answer)?.sub, setCookie: setCookie === undefined ? [] : setCookie.split('\n') };
  };
}
