import { randomBytes } from 'node:crypto';
import { asGatewayError, GatewayError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Attempts } from '../../login/attempts.ts';
import type { SignInProvider, SignInWish } from '../../login/connector.ts';
import { readCookie } from '../../login/cookie.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { preferLanguages, redirect } from '../pages/pages.ts';
import { providersPage } from '../pages/sign-in.ts';
import { parseReturnPath } from './return-path.ts';
import type { SignInHandlerOptions, SignInHandlers } from './sign-in-handlers.ts';

/** Seconds for which a browser is recognised as the one that started the sign-in. */
const BROWSER_LIFETIME = 3600;

/** Redirects the browser to a sign-in provider, and handles its callback. */
export function redirectHandlers(
  providers: readonly SignInProvider[],
  attempts: Attempts,
  options: SignInHandlerOptions,
): SignInHandlers {
  const { origin, pages, sessions, memberCookie, browserCookie, events, purposeOf } = options;
  const callbackOf = (id: string) => new URL(`${ENDPOINTS.signIn}/callback/${id}`, origin);

  const choose = async (exchange: Exchange, returnTo: string): Promise<void> => {
    const { response, target } = exchange;
    const links = providers.map(({ id, name }) => {
      const query = new URLSearchParams(target.query);
      query.set('provider', id);
      return { name, href: `${ENDPOINTS.signIn}?${query}` };
    });
    preferLanguages(new URLSearchParams(target.query).get('ui_locales'));
    const purpose = await purposeOf(exchange, returnTo);
    pages.send(response, 200, (words) => providersPage(words, links, purpose));
  };

  return {
    async page(exchange) {
      const { request, response, target } = exchange;
      const query = new URLSearchParams(target.query);
      const returnTo = parseReturnPath(query.getAll('return_to'));
      const wanted = query.get('provider');
      const provider = providers.length === 1 ? providers[0] : providers.find(({ id }) => id === wanted);
      if (provider === undefined) return choose(exchange, returnTo);
      const browser = readCookie(request.headers, browserCookie.name) ?? randomBytes(32).toString('base64url');
      const state = attempts.state();
      const { url, kept } = await provider.begin({ state, callback: callbackOf(provider.id), wish: wishOf(query) });
      await attempts.keep(state, browser, { provider: provider.id, returnTo, kept });
      response.setHeader('set-cookie', browserCookie.set(browser, BROWSER_LIFETIME));
      redirect(response, url.href);
    },

    async callback({ request, response, target, provenance }) {
      const provider = providers.find(({ id }) => id === target.path.split('/').at(-1));
      const query = new URLSearchParams(target.query);
      const state = provider?.stateOf(query);
      const attempt =
        state === undefined ? undefined : await attempts.take(state, readCookie(request.headers, browserCookie.name));
      // A response of one provider at the callback of another is a mix-up attack and is not processed (RFC 9700 section
      // 4.4).
      if (provider === undefined || attempt === undefined || attempt.provider !== provider.id)
        throw new PageFailure('invalid_request', 'failure.sign_in_over');
      const member = await provider
        .finish({ query, callback: callbackOf(provider.id), kept: attempt.kept })
        .catch((thrown: unknown) => {
          events.failed(provenance, reasonOf(thrown));
          throw isForbidden(thrown) ? new PageFailure('forbidden', 'failure.account_not_allowed') : thrown;
        });
      if (member === undefined) events.failed(provenance, 'cancelled');
      else {
        const session = await sessions.begin(request.headers, member);
        events.begun(member.sub);
        response.setHeader('set-cookie', memberCookie.set(session.value, session.lifetime));
      }
      redirect(response, attempt.returnTo);
    },
  };
}

/** The wishes in the query of the sign-in page. The gate writes them, and a forged one does no harm. */
function wishOf(query: URLSearchParams): SignInWish {
  const maxAge = query.get('max_age');
  return {
    loginHint: query.get('login_hint') ?? undefined,
    uiLocales: query.get('ui_locales') ?? undefined,
    another: query.get('another') === '1',
    fresh: query.get('prompt') === 'login',
    maxAge: maxAge !== null && /^\d{1,9}$/.test(maxAge) ? Number(maxAge) : undefined,
    acrValues: query.get('acr_values') ?? undefined,
  };
}

function reasonOf(thrown: unknown): 'account_not_allowed' | 'proof_refused' | 'login_unavailable' {
  if (isForbidden(thrown)) return 'account_not_allowed';
  return asGatewayError(thrown).code === 'invalid_request' ? 'proof_refused' : 'login_unavailable';
}

function isForbidden(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === 'forbidden';
}
