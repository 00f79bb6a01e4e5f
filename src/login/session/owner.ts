import type { ClaimsConfig } from '../../config/claims.ts';
import type { Config } from '../../config/schema.ts';
import type { CallUpstream } from '../../upstream/request.ts';
import type { Member } from '../connector.ts';
import { cookieFilter } from '../cookies.ts';
import { shownUrl } from '../whoami/question.ts';
import { askBackend } from '../whoami/unusable.ts';
import { createWhoami } from '../whoami/whoami.ts';
import type { SessionLoginConfig } from './settings.ts';

/** The member that a session belongs to, undefined for no one, and the cookies that the response set. */
interface Owned {
  readonly member: Member | undefined;
  readonly setCookie: readonly string[];
}

/**
 * Asks the backend's whoami about the listed cookies in a Cookie header. Does not follow redirects and bypasses caches.
 *
 * @param base - the URL of the upstream, for the log
 * @throws {GatewayError} `login_unavailable` when the backend cannot say
 */
export function askWhoami(
  config: SessionLoginConfig,
  call: CallUpstream,
  base: string,
  claims?: ClaimsConfig,
): (cookies: string) => Promise<Owned> {
  const ask = askBackend(call);
  const whoami = createWhoami(config.whoami, shownUrl(base, config.whoami.path), claims);
  const listed = cookieFilter(config.cookies);
  return async (cookies) => {
    const cookie = listed(cookies);
    if (cookie === '') return { member: undefined, setCookie: [] };
    const answer = await ask({
      upstream: config.upstream,
      method: 'GET',
      path: config.whoami.path,
      headers: { cookie, accept: whoami.accept, 'cache-control': 'no-cache' },
    }).catch((thrown: unknown) => {
      throw whoami.failed(thrown);
    });
    return { member: whoami.read(answer), setCookie: answer.headers['set-cookie']?.split('\n') ?? [] };
  };
}

/** Asks whose a stored session is, without a browser. */
export function sessionOwner(
  config: SessionLoginConfig,
  upstreams: Config['upstreams'],
  call: CallUpstream,
): (cookies: string) => Promise<{ readonly sub: string | undefined; readonly setCookie: readonly string[] }> {
  const ask = askWhoami(config, call, upstreams[config.upstream]?.url ?? '');
  return async (cookies) => {
    const { member, setCookie } = await ask(cookies);
    return { sub: member?.sub, setCookie };
  };
}
