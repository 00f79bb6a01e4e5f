import type { Config } from '../../../../config/schema.ts';
import { cookieMatcher } from '../../../../http/cookie-names.ts';
import type { SetCookie } from '../../../../http/set-cookie.ts';
import { loginCookies, loginPage } from '../../../../login/kinds.ts';
import { field, isRedirect, pageTitle, type SiteAnswer } from '../../answer.ts';
import { edgeOf } from '../../edges.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { orNone, Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation, SignInPage } from '../installation.ts';
import { cookiesOf } from '../pages.ts';

/** Whether members sign in on a page to which the gate sends them or whose form it fills in. */
const hasPage = ({ login }: Config, { login: { shape } }: Pick<Installation, 'login'>) =>
  (shape === 'ambient' && loginPage(login) !== undefined) ||
  ('signInUrl' in login && login.signInUrl !== undefined) ||
  ('page' in login && login.page !== undefined);

const leadsBack = (config: Config, installation: Installation) =>
  'returnParam' in config.login && hasPage(config, installation);

/** Names of the parameter in the frameworks and sites that are common. */
const PARAMETERS = [
  ...['redirect_to', 'return_to', 'next', 'returnUrl', 'return_url', 'redirect', 'redirect_url', 'redirect_uri'],
  ...['redirectTo', 'returnTo', 'return', 'continue', 'goto', 'back', 'destination', 'dest', 'ref', 'rd'],
  ...['service', 'url'],
];

/** Whether members find the sign-in page, and the gate recognises them afterwards. */
export const SIGN_IN_PAGE = [
  ...backendChecks(hasPage, {
    async 'signin.page'({ facts }) {
      const { url, answers } = await facts.signInPage();
      const last = answers.at(-1) ?? answers[0];
      const at = `${url.origin}${url.pathname}${answers.length > 1 ? ` leads to ${placeOf(last)}, which` : ''}`;
      if (isRedirect(last)) return failure(`${at} redirects again and again`);
      if (last.status < 400) return pass(`${at} answers ${last.status}${titled(last)}`);
      return failure(`${at} answers ${last.status}${titled(last)}`, edgeOf(last)?.fix);
    },
  }),
  ...backendChecks(leadsBack, {
    async 'signin.return'(installation) {
      const page = await existingPage(installation);
      if (keeps(page)) return pass(`in ${parameterOf(installation.config)}`);
      for (const name of PARAMETERS) {
        const url = renamed(page.url, parameterOf(installation.config), name);
        const answers = url === undefined ? undefined : await orNone(installation.pages.open(url));
        if (answers !== undefined && keeps({ ...page, answers }))
          return failure(
            `it ignores the parameter ${parameterOf(installation.config)}, but keeps ${name}`,
            `Set login.returnParam: ${name}.`,
          );
      }
      throw new Unavailable(
        'the page does not show the address, perhaps because it keeps it in the session: sign in once with `coursegate connect`',
      );
    },
  }),
  ...backendChecks(({ login }) => loginCookies(login).length > 0, {
    async 'signin.cookies'(installation) {
      const { config, facts } = installation;
      const listed = cookieMatcher(loginCookies(config.login));
      const { answers } = await existingPage(installation);
      const own = answers.map((answer) => ({ answer, cookies: cookiesOf(answer) }));
      const whoami = 'whoami' in config.login ? await orNone(facts.anonymous()) : undefined;
      // whoami is called by the gate as at its origin.
      if (whoami !== undefined) own.push({ answer: { ...whoami, url: config.origin }, cookies: cookiesOf(whoami) });
      const all = own.flatMap(({ answer, cookies }) => cookies.map((cookie) => ({ answer, cookie })));
      const sessions = all.filter(({ cookie: { name } }) => listed(name));
      if (sessions.length === 0)
        throw new Unavailable(
          'none of the cookies that identify members is set before a member signs in, so it cannot be examined',
        );
      const names = [...new Set(sessions.map(({ cookie: { name } }) => name))].join(', ');
      return checkEach(names, sessions, ({ answer, cookie }) => checkCookie(cookie, answer, config.origin));
    },
  }),
];

async function existingPage({ facts }: Installation): Promise<SignInPage> {
  const page = await facts.signInPage();
  if ((page.answers.at(-1)?.status ?? 0) >= 400) throw new Unavailable('there is no sign-in page');
  return page;
}

function parameterOf({ login }: Config): string {
  return 'returnParam' in login ? login.returnParam : '';
}

/** Whether an answer repeats the address: in a form, a link, a redirect or a cookie. */
function keeps({ answers, mark }: SignInPage): boolean {
  return answers.some(({ text, headers }) =>
    `${text}${headers.location ?? ''}${headers['set-cookie'] ?? ''}`.includes(mark),
  );
}

/** The same address with the parameter under another name; undefined if it has that name. */
function renamed(url: URL, from: string, to: string): URL | undefined {
  const value = url.searchParams.get(from);
  if (value === null || from === to) return undefined;
  const other = new URL(url);
  other.searchParams.delete(from);
  other.searchParams.set(to, value);
  return other;
}

function checkCookie(
  { name, attributes }: SetCookie,
  answer: SiteAnswer,
  origin: string,
): readonly (Verdict | false)[] {
  const [gate, page] = [new URL(origin), new URL(answer.url)];
  const domain = (attributes.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  const path = attributes.get('path') ?? '/';
  const reaches = domain === '' ? page.hostname === gate.hostname : `.${gate.hostname}`.endsWith(`.${domain}`);
  const whose = domain === '' ? `for ${page.hostname} only` : `for ${domain}`;
  return [
    !reaches && failure(`${name} is ${whose}, so browsers do not send it to ${gate.hostname}`),
    path !== '/' && path.startsWith('/') && failure(`${name} has Path=${path}, so browsers do not send it to /oauth/…`),
    (attributes.get('samesite') ?? '').toLowerCase() === 'strict' &&
      warning(
        `${name} has SameSite=Strict: a member who comes from an app looks signed out, and has to sign in each time`,
      ),
    attributes.has('secure') &&
      gate.protocol === 'http:' &&
      gate.hostname !== 'localhost' &&
      failure(`${name} is Secure, but the origin of the gate is plain http`),
  ];
}

/** The origin and path of an answer: its query may have what a session needs. */
function placeOf({ url }: SiteAnswer): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function titled(answer: SiteAnswer): string {
  const title = pageTitle(answer);
  return title === '' ? ` ${field(answer, 'content-type')}`.trimEnd() : ` "${title}"`;
}
