import { type Browser, createBrowser } from '../../support/browser.ts';
import type { Account, CutOffSite } from './cut-off-site.ts';
import { type ScriptedIdp, signedBy } from './scripted-idp.ts';

interface Backends {
  readonly site: CutOffSite;
  readonly idp: ScriptedIdp;
  /** The file of the directory. */
  readonly directory: string;
}

/** A kind of login in front of the same members. */
export interface Kind {
  /** What its row in docs/login/README.md is about. */
  readonly row: string;
  readonly login: (at: Backends) => Readonly<Record<string, unknown>>;
  /** A browser in which the member is at the site; undefined where the password is typed at the gate. */
  readonly browser?: (of: Account, at: Backends) => Browser | Promise<Browser>;
  /** The member's ID, if it is not the site's. */
  readonly idOf?: (of: Account) => string;
}

const session = {
  kind: 'session',
  upstream: 'site',
  whoami: { path: '/me', version: '/epoch' },
  loginUrl: '/login',
  cookies: ['who'],
};
const recheck = {
  upstream: 'site',
  path: '/members/{member.id}',
  active: '/active',
  version: '/epoch',
  interval: '0s',
};
const attempts = { address: 'unlimited' };

function withSession({ id }: Account): Browser {
  const browser = createBrowser();
  browser.cookies.set('who', { value: id, path: '/' });
  return browser;
}

/** In the order of the table. */
export const KINDS: readonly Kind[] = [
  { row: 'session', login: () => session, browser: withSession },
  { row: 'session with recheck', login: () => ({ ...session, recheck }), browser: withSession },
  {
    row: 'bridge',
    login: ({ site }) => ({ kind: 'bridge', url: `${site.url}/sso`, secret: { env: 'BRIDGE_SECRET' } }),
    browser: ({ id }, { site }) => {
      site.visitor = id;
      return createBrowser();
    },
  },
  {
    row: 'oidc',
    login: ({ idp }) => ({
      kind: 'oidc',
      providers: [{ id: 'idp', name: 'School', issuer: idp.issuer, clientId: 'gate' }],
    }),
    browser: ({ id, state }, { idp }) => {
      idp.claims = { sub: id };
      idp.answers = state === 'active' ? {} : { '/authorize': (response) => response.writeHead(403).end('closed') };
      return createBrowser();
    },
    idOf: ({ id }) => `idp:${id}`,
  },
  {
    row: 'header',
    login: () => ({ kind: 'header', user: 'X-SSO-Member' }),
    browser: ({ id, state }) => createBrowser(state === 'active' ? { 'x-sso-member': id } : {}),
  },
  {
    row: 'jwt-cookie',
    login: ({ idp }) => ({
      kind: 'jwt-cookie',
      jwt: { cookie: 'token', jwks: `${idp.issuer}/jwks`, issuer: 'https://site.test', audience: 'site' },
      loginUrl: '/login',
    }),
    browser: async ({ id, state }, { idp }) => {
      const browser = createBrowser();
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: 'https://site.test', aud: 'site', sub: id, iat: now, exp: now + 300 };
      if (state === 'active') browser.cookies.set('token', { value: await signedBy(idp.key, claims), path: '/' });
      return browser;
    },
  },
  {
    row: 'webhook',
    login: () => ({ kind: 'webhook', upstream: 'site', path: '/check', secret: { env: 'WEBHOOK_SECRET' }, attempts }),
  },
  {
    row: 'form',
    login: () => ({
      kind: 'form',
      upstream: 'site',
      action: '/enter',
      success: { status: [302] },
      whoami: { path: '/me', version: '/epoch' },
      attempts,
    }),
  },
  {
    row: 'database',
    login: () => ({
      kind: 'database',
      url: { env: 'MEMBERS' },
      query: 'select id, hash from members where id = $1 and active',
      attempts,
    }),
  },
  { row: 'directory', login: ({ directory }) => ({ kind: 'directory', file: directory, attempts }) },
];
