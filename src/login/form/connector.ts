import { LOCKED_OUT_WAIT } from '../../config/constants.ts';
import { GatewayError } from '../../errors.ts';
import { ownCallPlace } from '../../upstream/header-policy.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import type { CredentialCheck, Login, Member } from '../connector.ts';
import { evenRefusals } from '../even-refusals.ts';
import type { LoginParts } from '../login-parts.ts';
import { retryAfter } from '../retry-after.ts';
import { jsonOrNothing } from '../whoami/json-answer.ts';
import { shownUrl } from '../whoami/question.ts';
import { unusable } from '../whoami/unusable.ts';
import { createWhoami } from '../whoami/whoami.ts';
import { answerClassifier } from './classify-answer.ts';
import { createCookieJar } from './cookie-jar.ts';
import { filledIn } from './filled-in.ts';
import { findLoginForm, type LoginForm } from './login-page.ts';
import type { FormLoginConfig } from './settings.ts';
import { createSite, type FormSite } from './site.ts';

/** Where to send the credentials, and what to send with them. */
interface Submission {
  readonly path: string;
  readonly from: string | undefined;
  readonly hidden: LoginForm['hidden'];
}

export function open(config: FormLoginConfig, parts: LoginParts): Login {
  const check = formCheck(config, parts);
  return { shape: 'credentials', check: evenRefusals(check, config.attempts.refusalTime) };
}

/**
 * The `form` login: submits the backend's own sign-in form as a browser would, with a cookie jar that is discarded
 * afterwards. Credentials are only sent to the configured upstream, wherever its pages point.
 */
function formCheck(config: FormLoginConfig, { call, clock, claims, upstreams, origin }: LoginParts): CredentialCheck {
  const { fields, format, extra } = config;
  const upstream = upstreams[config.upstream];
  if (upstream === undefined) throw new Error(`There is no upstream named ${config.upstream}.`);
  const place = { ...ownCallPlace(upstream, origin), upstream: config.upstream, call };
  const classify = answerClassifier(config, clock);
  const whoami = createWhoami(config.whoami, shownUrl(upstream.url, config.whoami.path), claims);

  const prepare = async (site: FormSite): Promise<Submission> => {
    const { page, action } = config;
    if (page === undefined) return { path: action ?? '', from: undefined, hidden: [] };
    const opened = await site.open(page);
    if (opened.answer.status !== 200) throw unusable(`${opened.answer.status} for its sign-in page`);
    const to = (written: string | undefined) => site.within(written || '', opened.path);
    const form = findLoginForm(opened.answer.body, {
      passwordField: fields.password,
      isAction: (written) => action !== undefined && to(written) === action,
    });
    if (form === undefined) throw unusable('a sign-in page without a form for a password');
    const path = action ?? to(form.action);
    if (path === undefined) throw unusable('a sign-in form that leads to another site');
    return { path, from: opened.path, hidden: form.hidden };
  };

  const submit = (site: FormSite, { path, from, hidden }: Submission, username: string, password: string) => {
    const own = new Map([...Object.entries(extra), [fields.username, username], [fields.password, password]]);
    const all = [...hidden.filter(([name]) => !own.has(name)), ...own];
    const encoded = new URLSearchParams(all.map(([name, value]): [string, string] => [name, value])).toString();
    if (format === 'query')
      return site.ask({ method: 'GET', path: `${path}${path.includes('?') ? '&' : '?'}${encoded}`, from });
    const body = format === 'json' ? JSON.stringify(Object.fromEntries(all)) : encoded;
    const headers: Record<string, string> =
      format === 'json'
        ? { 'content-type': 'application/json', accept: 'application/json' }
        : { 'content-type': 'application/x-www-form-urlencoded' };
    return site.ask({ method: 'POST', path, body, headers, from });
  };

  const identify = async (site: FormSite, answer: UpstreamResponse): Promise<Member | undefined> => {
    const document = jsonOrNothing(answer.body);
    const headers = Object.fromEntries(
      Object.entries(config.whoamiHeaders).map(([name, text]) => [
        name.toLowerCase(),
        filledIn(text, document, (value) => value),
      ]),
    );
    const path = filledIn(config.whoami.path, document, encodeURIComponent);
    return whoami.read(await site.ask({ method: 'GET', path, headers: { accept: whoami.accept, ...headers } }));
  };

  return async ({ username, password }) => {
    // The jar has the backend's session, for code that later wants to use it in calls to the backend.
    const jar = createCookieJar(clock);
    const signal = AbortSignal.timeout(config.timeout * 1000);
    const site = createSite({ ...place, jar, signal });
    try {
      const answer = await submit(site, await prepare(site), username, password);
      const result = classify(answer);
      if (result === 'wrong') return { kind: 'wrong' };
      if (result === 'locked out')
        return { kind: 'slow_down', retryAfter: retryAfter(answer.headers['retry-after'], LOCKED_OUT_WAIT) };
      const member = await identify(site, answer);
      if (member === undefined) {
        if (result === 'undecided') return { kind: 'wrong' };
        throw unusable('that the credentials are right, but then that no one is signed in');
      }
      // The member is known. Failing to end an unused session is no reason to refuse the sign-in.
      if (config.logout !== undefined) await site.ask({ method: 'GET', path: config.logout }).catch(() => {});
      return { kind: 'member', member };
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'login_unavailable') throw thrown;
      throw new GatewayError('login_unavailable', { cause: thrown });
    }
  };
}
