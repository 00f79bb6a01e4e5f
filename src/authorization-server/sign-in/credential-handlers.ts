import { randomBytes } from 'node:crypto';
import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { CredentialCheck } from '../../login/connector.ts';
import { readCookie } from '../../login/cookie.ts';
import { unixSeconds } from '../../storage/store.ts';
import { csrfToken, isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { preferLanguages, redirect } from '../pages/pages.ts';
import { type SignInView, signInPage } from '../pages/sign-in.ts';
import { parseReturnPath } from './return-path.ts';
import type { SignInHandlerOptions, SignInHandlers } from './sign-in-handlers.ts';

const BODY_LIMIT = 16 * 1024;
const LONGEST_USERNAME = 320;
const LONGEST_PASSWORD = 1024;
/** Seconds for which the page can be submitted. */
const PAGE_LIFETIME = 3600;

/** The gate's own sign-in page. Credentials are passed to `check` and nowhere else. */
export function credentialHandlers(check: CredentialCheck, options: SignInHandlerOptions): SignInHandlers {
  const { origin, pages, sessions, memberCookie, browserCookie, events, purposeOf } = options;

  /** Binds the form to this browser, so that an attacker's page cannot sign its visitor in as the attacker. */
  const csrfOf = (browser: string, returnTo: string) => csrfToken(options.csrfKeys, browser, returnTo);

  const show = async (
    exchange: Exchange,
    returnTo: string,
    view: Pick<SignInView, 'username' | 'problem' | 'wait'>,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ): Promise<void> => {
    const { request, response } = exchange;
    const browser = readCookie(request.headers, browserCookie.name) ?? randomBytes(32).toString('base64url');
    const csrf = csrfOf(browser, returnTo);
    const shown = { action: ENDPOINTS.signIn, returnTo, csrf, ...view, purpose: await purposeOf(exchange, returnTo) };
    pages.send(response, status, (words) => signInPage(words, shown), {
      ...headers,
      'set-cookie': browserCookie.set(browser, PAGE_LIFETIME),
    });
  };

  return {
    async page(exchange) {
      const query = new URLSearchParams(exchange.target.query);
      const username = (query.get('login_hint') ?? '').slice(0, LONGEST_USERNAME);
      preferLanguages(query.get('ui_locales'));
      await show(exchange, parseReturnPath(query.getAll('return_to')), { username, problem: undefined });
    },

    async submit(exchange) {
      const { request, response, provenance } = exchange;
      refuseCrossSite(request, origin);
      const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
      const returnTo = parseReturnPath(form.getAll('return_to'));
      const browser = readCookie(request.headers, browserCookie.name);
      if (browser === undefined || !isCsrfToken(form.get('csrf'), options.csrfKeys, browser, returnTo))
        throw new PageFailure('forbidden', 'failure.sign_in_over');
      const [username, password] = [form.get('username') ?? '', form.get('password') ?? ''];
      const again = (problem: SignInView['problem'], status: number, headers = {}, wait = 0) =>
        show(exchange, returnTo, { username, problem, wait }, { status, headers });
      if (
        username.length > LONGEST_USERNAME ||
        password.length > LONGEST_PASSWORD ||
        username === '' ||
        password === ''
      )
        return again('sign_in.wrong', 400);
      const address = provenance.clientAddress;
      const verdict = await check({ username, password, address }).catch((thrown: unknown) => {
        events.failed(provenance, 'login_unavailable', username);
        throw thrown;
      });
      switch (verdict.kind) {
        case 'wrong':
          events.failed(provenance, 'wrong_credentials', username);
          return again('sign_in.wrong', 400);
        case 'suspended':
          events.failed(provenance, 'suspended', username, verdict.sub);
          return again('sign_in.suspended', 403);
        case 'slow_down':
          events.failed(provenance, 'too_many_attempts', username);
          return again('sign_in.slow_down', 429, { 'retry-after': String(verdict.retryAfter) }, verdict.retryAfter);
        case 'member': {
          const { authTime = unixSeconds(options.clock) } = verdict.member;
          const session = await sessions.begin(request.headers, { ...verdict.member, authTime });
          events.begun(verdict.member.sub);
          response.setHeader('set-cookie', [
            memberCookie.set(session.value, session.lifetime),
            browserCookie.set('', 0),
          ]);
          return redirect(response, returnTo);
        }
      }
    },
  };
}
