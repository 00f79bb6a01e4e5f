import type { Handler } from '../../http/exchange.ts';
import type { HandOver } from '../../login/connector.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { redirect } from '../pages/pages.ts';

const STATE = /^[A-Za-z0-9_-]{43}$/;

/**
 * At the site's host: hands the member's session over to the sign-in with the state in the path, at the host of the
 * pages. A member who is not signed in is sent to the site's sign-in page, and comes back here once.
 *
 * A script of the site can send a browser here, but neither reads where the redirect leads nor can use it elsewhere.
 */
export function handOverHandler(handOver: HandOver, pagesOrigin: string): Handler {
  return async ({ request, response, target }) => {
    const [state = '', step] = target.path.slice(ENDPOINTS.handOver.length + 1).split('/');
    if (!STATE.test(state)) throw new PageFailure('invalid_request', 'failure.sign_in_over');
    const id = await handOver.keep(request.headers, state);
    if (id === undefined && step === undefined) {
      const loginHint = new URLSearchParams(target.query).get('login_hint') ?? undefined;
      return redirect(response, handOver.signInUrl(state, { loginHint }).href);
    }
    if (id === undefined) handOver.cameBackAnonymous?.(request.headers);
    const callback = new URL(`${ENDPOINTS.signIn}/callback/site`, pagesOrigin);
    callback.search = new URLSearchParams({ state, ...(id === undefined ? {} : { id }) }).toString();
    redirect(response, callback.href);
  };
}
