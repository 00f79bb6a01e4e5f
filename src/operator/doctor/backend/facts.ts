import { randomBytes } from 'node:crypto';
import { pagesOrigin } from '../../../config/pages.ts';
import { once } from '../../../http/once.ts';
import { loginCookies } from '../../../login/kinds.ts';
import type { SessionLoginConfig } from '../../../login/session/settings.ts';
import type { Trial } from '../../../upstream/assertion-trial.ts';
import { Unavailable } from '../unavailable.ts';
import type { Installation, InstallationFacts, SignInPage } from './installation.ts';

/** Determines each fact on first use. Later uses get the same value or the same error. */
export function findFacts(installation: Omit<Installation, 'facts' | 'close'>): InstallationFacts {
  return {
    anonymous: once(() => askWhoami(installation, undefined)),
    stranger: once(() => askWhoami(installation, inventedCookies(sessionOf(installation)))),
    signInPage: once(() => openSignInPage(installation)),
    trials: once(() => tryAssertions(installation)),
  };
}

function sessionOf({ config: { login } }: Pick<Installation, 'config'>): SessionLoginConfig {
  if (!('cookies' in login)) throw new Unavailable('members do not sign in with a session cookie');
  return login;
}

async function askWhoami(installation: Pick<Installation, 'config' | 'send'>, cookie: string | undefined) {
  const { upstream, whoami } = sessionOf(installation);
  const accept = { json: 'application/json', header: '*/*', html: 'text/html,application/xhtml+xml' }[whoami.format];
  const headers = { accept, 'cache-control': 'no-cache', ...(cookie === undefined ? {} : { cookie }) };
  return installation.send({ upstream, method: 'GET', path: whoami.path, headers });
}

/** A cookie for each listed name, with a value that no session has. */
function inventedCookies({ cookies }: Pick<SessionLoginConfig, 'cookies'>): string {
  return cookies
    .map((name) => `${name.replaceAll('*', 'coursegate-doctor')}=${randomBytes(16).toString('hex')}`)
    .join('; ');
}

async function openSignInPage({ config, login, pages }: Omit<Installation, 'facts' | 'close'>): Promise<SignInPage> {
  const mark = randomBytes(8).toString('hex');
  // The site's cookies are handed over at its own origin.
  const returnTo =
    config.pages.origin !== undefined && loginCookies(config.login).length > 0
      ? new URL(`/oauth/hand-over/${mark}/return`, config.origin)
      : new URL(`/oauth/authorize?coursegate_doctor=${mark}`, pagesOrigin(config));
  if (login.shape === 'ambient') {
    const url = login.connector.signInUrl(returnTo, { loginHint: undefined, uiLocales: undefined });
    if (url.href === returnTo.href)
      throw new Unavailable('the proxy starts the sign-in itself: there is no page for it');
    return { url, answers: await pages.open(url), mark };
  }
  if (!('page' in config.login) || config.login.page === undefined)
    throw new Unavailable('members sign in on coursegate’s own page');
  const url = new URL(config.login.page, config.origin);
  return { url, answers: await pages.open(url), mark };
}

async function tryAssertions({ admin, member }: Pick<Installation, 'admin' | 'member'>): Promise<readonly Trial[]> {
  const body = { by: 'operator', reason: 'coursegate doctor', ...(member === undefined ? {} : { member }) };
  try {
    return (await admin.command<{ readonly trials: readonly Trial[] }>('POST', '/assertions/try', body)).trials;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/\.$/, '') : String(thrown);
    throw new Unavailable(`only the running gate can try this: ${why}`);
  }
}
