import type { ScopeConfig } from '../../config/schema.ts';
import { suggestScope } from '../../operations/observe/suggested-scope.ts';
import type { Discoveries } from './discoveries.ts';
import type { Framework } from './frameworks.ts';

export interface ConfigurationOptions {
  readonly framework: Framework;
  readonly origin: URL;
  readonly port: number;
  readonly upstream: URL;
  readonly found: Discoveries;
  /** Whether everything goes through the gate, and whether routes are only watched. */
  readonly site: boolean;
  readonly observe: boolean;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
}

/** Where the secret of the bridge is, beside the configuration. */
export const SECRET_FILE = 'bridge.secret';

/** Where the secrets of the switch are: what the site signs with, and what the gate shows it when it asks after a member. */
export const ADMIN_SECRET_FILE = 'admin.secret';
export const RECHECK_KEY_FILE = 'recheck.key';

/** Which frameworks' drop-ins have the switch filled in: they tell the gate of members, and answer when it asks. */
export function hasSwitch(framework: Framework): boolean {
  return framework === 'wordpress' || framework === 'django';
}

/** Which frameworks' drop-ins sign members in by the signed redirect. */
export function usesBridge(framework: Framework): boolean {
  return framework === 'rails' || framework === 'laravel' || framework === 'express' || framework === 'spring';
}

/** The name that the site has among the upstreams, which its drop-in knows too. */
export function upstreamName(framework: Framework): string {
  return framework === 'generic' ? 'site' : framework;
}

/**
 * The one file. Whatever the site said in it was matched against what may stand there, and is quoted. Nothing is open that
 * nobody named: a route without a token is refused, and what no route names is not there.
 */
export function writeConfiguration(options: ConfigurationOptions): string {
  const { framework, origin, upstream, found } = options;
  const name = upstreamName(framework);
  const identity = framework === 'generic' ? '' : ', identity: [assertion]';
  const url = upstream.href.replace(/\/$/, '');
  return `# coursegate, as written by \`coursegate init\`. Check it: npx coursegate check coursegate.yaml
version: 1
profile: B
anonymous: refuse                # a route is closed to whoever brings no token, unless it says otherwise
origin: ${quoted(origin.origin)}    # where members and apps reach the site. It is in every token: choose it once
name: ${quoted(found.title ?? origin.hostname)}    # what members read on the consent page

listen: { port: ${options.port}, trustedProxies: [loopback] }    # the web server in front is on this machine

store: { kind: sqlite, path: data/coursegate.db }

upstreams:
  ${name}: { url: ${quoted(url)}${identity} }    # the site itself, not by way of the web server

${loginSection(options)}${switchSection(framework)}
${siteSection(options, name)}
${routesSection(options, name)}`;
}

function switchSection(framework: Framework): string {
  if (!hasSwitch(framework)) return '';
  return `
# Lets the site end what a member let in, at once: a new password, other rights, gone. The drop-in has the same secret.
admin: { hmac: { secret: { file: ${ADMIN_SECRET_FILE} } } }
`;
}

/** Asked when an app renews its token, so that nothing the site could not tell is missed. */
function recheck(framework: Framework, path: string): string {
  return `  recheck:
    upstream: ${upstreamName(framework)}
    path: ${quoted(path)}
    key: { header: Coursegate-Key, secret: { file: ${RECHECK_KEY_FILE} } }    # the same as the drop-in's
    active: /active
    version: /version
`;
}

function loginSection({ framework, origin, found }: ConfigurationOptions): string {
  const at = (path: string) => quoted(origin.origin + path);
  const name = upstreamName(framework);
  const session = (
    comment: string,
    whoami: string,
    loginUrl: string,
    returnParam: string | undefined,
    cookies: readonly string[],
    more = '',
  ) =>
    `${comment}
login:
  kind: session
  upstream: ${name}
  whoami: ${whoami}
  loginUrl: ${loginUrl}
${returnParam === undefined ? '' : `  returnParam: ${quoted(returnParam)}\n`}  cookies: [${cookies.map(quoted).join(', ')}]
${more}`;
  switch (framework) {
    case 'wordpress':
      return session(
        '# Members sign in on the own login page of WordPress; the drop-in says who they are.',
        '{ path: "/?coursegate=whoami", subject: /id, email: /email, name: /name, authTime: /auth_time, version: /version }',
        at('/wp-login.php?reauth=1'),
        'redirect_to',
        found.sessionCookies,
        recheck(framework, '/?coursegate=member&id={member.id}'),
      );
    case 'moodle':
      return session(
        '# Members sign in on the own login page of Moodle; the plugin says who they are.',
        '{ path: /local/coursegate/whoami.php, subject: /id, email: /email, name: /name, authTime: /auth_time, version: /version }',
        at('/local/coursegate/signin.php'),
        undefined,
        found.sessionCookies,
      );
    case 'django':
      return session(
        '# Members sign in on the own login page of Django (settings.LOGIN_URL); the drop-in says who they are.',
        '{ path: /coursegate/whoami, subject: /id, email: /email, name: /name, version: /version }',
        at(found.loginPath ?? '/accounts/login/'),
        'next',
        found.sessionCookies,
        recheck(framework, '/coursegate/members/{member.id}'),
      );
    case 'generic':
      return genericLogin(found, at, session);
    default:
      return `# Members sign in on the own login page of the site, which the drop-in sends them to and back from.
login:
  kind: bridge
  url: ${at('/coursegate/bridge')}
  secret: { file: ${SECRET_FILE} }    # the same as the drop-in's
`;
  }
}

function genericLogin(
  found: Discoveries,
  at: (path: string) => string,
  session: (
    comment: string,
    whoami: string,
    loginUrl: string,
    returnParam: string | undefined,
    cookies: readonly string[],
  ) => string,
): string {
  const told = [
    found.whoamiPath === undefined
      ? '(1) No address that says who is signed in was found: name one that answers in JSON, with 401 for nobody.'
      : '(1) This address knows who is signed in. Look whether /id is where the id is in its answer.',
    found.loginPath === undefined
      ? '(2) No page with a password field was found: name it.'
      : '(2) This page has a password field.',
    found.returnParam === undefined
      ? '(3) It names no parameter to come back by: without one, members come back by hand.'
      : '(3) This is the parameter that it comes back by.',
    found.sessionCookies.length === 0
      ? '(4) No cookie of a session was seen: name it.'
      : '(4) This looks like the cookie of the session.',
  ];
  return session(
    `# Members sign in on the own login page of the site; coursegate shows their cookie at \`whoami\`.
${told.map((line) => `# ${line}`).join('\n')}
# Where nothing answers in JSON, a page for members will do, by regular expressions (RE2) with one group each:
#   whoami: { path: /account, format: html, subject: 'data-user-id="(\\d+)"', email: 'class="email">([^<]+)<' }`,
    `{ path: ${quoted(found.whoamiPath ?? '/api/me')}, subject: /id, email: /email, name: /name }`,
    at(found.loginPath ?? '/login'),
    found.returnParam ?? 'return_to',
    found.sessionCookies.length === 0 ? ['session'] : found.sessionCookies,
  );
}

function siteSection({ site, observe, found }: ConfigurationOptions, name: string): string {
  const cookies = found.sessionCookies.map(quoted).join(', ');
  if (observe)
    return `# Everything goes through, and is counted: \`npx coursegate observed --config coursegate.yaml\` proposes routes.
# Then take enforcement out.
site: { upstream: ${name} }
enforcement: { mode: observe${cookies === '' ? '' : `, cookies: [${cookies}]`} }
`;
  if (site) return `# Everything else is the site as it is.\nsite: { upstream: ${name} }\n`;
  return `# The web server sends the gate its own paths only (proxy/), so the site goes on when the gate does not. To have
# everything go through the gate: site: { upstream: ${name} }
`;
}

function routesSection({ framework, found, scopes, observe }: ConfigurationOptions, name: string): string {
  if (framework === 'wordpress')
    return `# What apps may read, as the member who approved. Others are named here and in COURSEGATE_ROUTES of the drop-in.
routes:
  - { match: "GET /wp-json/coursegate/v1/me", upstream: ${name}, scopes: [account:read] }
  - { match: "GET /wp-json/coursegate/v1/me/posts", upstream: ${name}, scopes: [posts:read] }
  - { match: "GET /wp-json/coursegate/v1/me/comments", upstream: ${name}, scopes: [comments:read] }
  - { match: "GET /wp-json/coursegate/v1/me/courses", upstream: ${name}, scopes: [courses:read] }
  - { match: "GET /wp-json/coursegate/v1/me/orders", upstream: ${name}, scopes: [orders:read] }

# Tools for assistants, at /mcp.
mcp:
  tools:
    - name: get_my_profile
      title: Get my profile
      description: Who the signed-in member is at the school, their email address and their roles.
      scopes: [account:read]
      get: { upstream: ${name}, path: /wp-json/coursegate/v1/me }
    - name: list_my_courses
      title: List my courses
      description: The courses the member takes.
      scopes: [courses:read]
      get: { upstream: ${name}, path: /wp-json/coursegate/v1/me/courses }
`;
  if (framework === 'moodle')
    return `# Tools for assistants, at /mcp. Each function is named in the plugin's settings too.
mcp:
  tools:
    - name: list_my_courses
      title: List my courses
      description: The courses the member is enrolled in.
      scopes: [courses:read]
      get:
        upstream: ${name}
        path: /local/coursegate/api.php
        query: { function: core_enrol_get_users_courses, returnusercount: "0" }
      result: { courses: { each: "", id: /id, title: /fullname, shortName: /shortname } }
`;
  const proposed = observe ? [] : found.readable.map((path) => ({ path, ...suggestScope(path, 'read', scopes) }));
  const lines = proposed.map(({ path, scope, fits }) => {
    const line = `{ match: ${quoted(`GET ${path}`)}, upstream: ${name}, scopes: [${quoted(scope)}] }`;
    return fits ? `  - ${line}` : `  # - ${line}    # whose scope is this?`;
  });
  const open = proposed.some(({ fits }) => fits);
  return `# What apps may read, as the member who approved. ${lines.length > 0 ? 'From the API description of the site: keep what you want read.' : 'Nothing yet: one line for each address, such as'}
${lines.length > 0 ? '' : `#   - { match: "GET /api/courses/**", upstream: ${name}, scopes: [courses:read] }\n`}${open ? 'routes:' : 'routes: []'}
${lines.length > 0 ? `${lines.join('\n')}\n` : ''}`;
}

/** JSON is YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
