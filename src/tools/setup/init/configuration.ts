import type { ScopeConfig } from '../../../config/schema.ts';
import { suggestScope } from '../../../operations/observe/suggested-scope.ts';
import type { Discoveries } from './discoveries.ts';
import type { Framework } from './frameworks.ts';

export interface ConfigurationOptions {
  readonly framework: Framework;
  readonly origin: URL;
  readonly port: number;
  readonly upstream: URL;
  readonly found: Discoveries;
  /** Whether all traffic goes through the gate, and whether it only observes. */
  readonly site: boolean;
  readonly observe: boolean;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
}

/**
 * Files of secrets, next to the configuration. The gate and the bridge of the drop-in share the first, the site signs
 * its commands to the gate with the second, and the gate sends the third when it rechecks a member.
 */
export const SECRET_FILES = { bridge: 'bridge.secret', admin: 'admin.secret', recheck: 'recheck.key' } as const;
export type SecretName = keyof typeof SECRET_FILES;

/** Whether the framework's drop-in notifies the gate about members and answers its rechecks. */
export function hasSwitch(framework: Framework): boolean {
  return framework === 'wordpress' || framework === 'django';
}

/** The secrets that the gate shares with the framework's drop-in. */
export function secretsOf(framework: Framework): readonly SecretName[] {
  if (hasSwitch(framework)) return ['admin', 'recheck'];
  return framework === 'moodle' || framework === 'generic' ? [] : ['bridge'];
}

/** The site's name under `upstreams`. The drop-in uses it too. */
export function upstreamName(framework: Framework): string {
  return framework === 'generic' ? 'site' : framework;
}

/**
 * Writes coursegate.yaml. Text from the site has been validated and is quoted. The result is closed by default:
 * requests without a token are refused, and paths without a route are not served.
 */
export function writeConfiguration(options: ConfigurationOptions): string {
  const { framework, origin, upstream, found } = options;
  const name = upstreamName(framework);
  const identity = framework === 'generic' ? '' : ', identity: [assertion]';
  const url = upstream.href.replace(/\/$/, '');
  return `# coursegate, as written by \`coursegate init\`. Check it: npx coursegate check coursegate.yaml
version: 1
profile: B
anonymous: refuse                # requests without a token are refused, unless a route says otherwise
origin: ${quoted(origin.origin)}    # public address of the site. It is part of every token: do not change it later
name: ${quoted(found.title ?? origin.hostname)}    # shown to members on the consent page

listen: { port: ${options.port}, trustedProxies: [loopback] }    # the web server runs on this machine

store: { kind: sqlite, path: data/coursegate.db }

upstreams:
  ${name}: { url: ${quoted(url)}${identity} }    # the site itself, behind the web server

${loginSection(options)}${switchSection(framework)}
${siteSection(options, name)}
${routesSection(options, name)}`;
}

function switchSection(framework: Framework): string {
  if (!hasSwitch(framework)) return '';
  return `
# Lets the site disconnect a member's apps at once, such as after a password change. The drop-in has the same secret.
admin: { hmac: { secret: { file: ${SECRET_FILES.admin} } } }
`;
}

/** Where an answer in JSON holds what the gate needs of a member. */
const MEMBER = 'subject: /id, email: /email, name: /name';

/** Members sign in on a page of the site, and the gate asks `whoami` who they are. */
interface SessionLogin {
  readonly comment: string;
  readonly whoami: string;
  readonly loginPath: string;
  readonly returnParam?: string;
  /** Those that were seen by default. */
  readonly cookies?: readonly string[];
  /** The path that says whether a member is still active: the drop-in may have failed to report a change. */
  readonly recheck?: string;
}

/** The sign-in of a framework; undefined when its drop-in uses the bridge. */
function sessionLogin(framework: Framework, found: Discoveries): SessionLogin | undefined {
  switch (framework) {
    case 'wordpress':
      return {
        comment: '# Members sign in on the WordPress login page; the drop-in tells the gate who they are.',
        whoami: `{ path: "/?coursegate=whoami", ${MEMBER}, authTime: /auth_time, version: /version }`,
        loginPath: '/wp-login.php?reauth=1',
        returnParam: 'redirect_to',
        recheck: '/?coursegate=member&id={member.id}',
      };
    case 'moodle':
      return {
        comment: '# Members sign in on the Moodle login page; the plugin tells the gate who they are.',
        whoami: `{ path: /local/coursegate/whoami.php, ${MEMBER}, authTime: /auth_time, version: /version }`,
        loginPath: '/local/coursegate/signin.php',
      };
    case 'django':
      return {
        comment:
          '# Members sign in on the Django login page (settings.LOGIN_URL); the drop-in tells the gate who they are.',
        whoami: `{ path: /coursegate/whoami, ${MEMBER}, version: /version }`,
        loginPath: found.loginPath ?? '/accounts/login/',
        returnParam: 'next',
        recheck: '/coursegate/members/{member.id}',
      };
    case 'generic':
      return genericLogin(found);
    default:
      return undefined;
  }
}

function genericLogin({ whoamiPath, loginPath, returnParam, sessionCookies }: Discoveries): SessionLogin {
  const findings = [
    whoamiPath === undefined
      ? 'No address that identifies the member was found. Enter one that answers in JSON, and with 401 without a session.'
      : 'This address identifies the signed-in member. Check that /id points to the id in its answer.',
    loginPath === undefined
      ? 'No page with a password field was found. Enter the login page.'
      : 'This page has a password field.',
    returnParam === undefined
      ? 'No return parameter was found. Without one, members have to find their own way back.'
      : 'This parameter of the login page holds the address to return to.',
    sessionCookies.length === 0 ? 'No session cookie was seen. Enter its name.' : 'This looks like the session cookie.',
  ];
  return {
    comment: `# Members sign in on the site's own login page; coursegate identifies them by sending their cookie to \`whoami\`.
${findings.map((line, at) => `# (${at + 1}) ${line}`).join('\n')}
# If nothing answers in JSON, use a member page and regular expressions (RE2) with one group each:
#   whoami: { path: /account, format: html, subject: 'data-user-id="(\\d+)"', email: 'class="email">([^<]+)<' }`,
    whoami: `{ path: ${quoted(whoamiPath ?? '/api/me')}, ${MEMBER} }`,
    loginPath: loginPath ?? '/login',
    returnParam: returnParam ?? 'return_to',
    ...(sessionCookies.length === 0 ? { cookies: ['session'] } : {}),
  };
}

function loginSection({ framework, origin, found }: ConfigurationOptions): string {
  const at = (path: string) => quoted(origin.origin + path);
  const name = upstreamName(framework);
  const login = sessionLogin(framework, found);
  if (login === undefined)
    return `# Members sign in on the site's own login page. The drop-in sends them there and back.
login:
  kind: bridge
  url: ${at('/coursegate/bridge')}
  secret: { file: ${SECRET_FILES.bridge} }    # the same as the drop-in's
`;
  const { comment, whoami, loginPath, returnParam, cookies = found.sessionCookies, recheck } = login;
  return `${comment}
login:
  kind: session
  upstream: ${name}
  whoami: ${whoami}
  loginUrl: ${at(loginPath)}
${returnParam === undefined ? '' : `  returnParam: ${quoted(returnParam)}\n`}  cookies: [${cookies.map(quoted).join(', ')}]
${recheck === undefined ? '' : recheckSection(name, recheck)}`;
}

/** The gate asks the site about the member on every token refresh. */
function recheckSection(name: string, path: string): string {
  return `  recheck:
    upstream: ${name}
    path: ${quoted(path)}
    key: { header: Coursegate-Key, secret: { file: ${SECRET_FILES.recheck} } }    # the same as the drop-in's
    active: /active
    version: /version
`;
}

function siteSection({ site, observe, found }: ConfigurationOptions, name: string): string {
  const cookies = found.sessionCookies.map(quoted).join(', ');
  if (observe)
    return `# Every request passes and is counted. \`npx coursegate observed --config coursegate.yaml\` proposes routes.
# Then remove enforcement.
site: { upstream: ${name} }
enforcement: { mode: observe${cookies === '' ? '' : `, cookies: [${cookies}]`} }
`;
  if (site) return `# Requests without a route go to the site unchanged.\nsite: { upstream: ${name} }\n`;
  return `# The web server sends the gate only its own paths (see proxy/), so the site keeps working while the gate is down.
# To send everything through the gate: site: { upstream: ${name} }
`;
}

function routesSection({ framework, found, scopes, observe }: ConfigurationOptions, name: string): string {
  if (framework === 'wordpress')
    return `# What apps may read on behalf of a member. Add others here and in COURSEGATE_ROUTES of the drop-in.
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
      description: The signed-in member's account at the site, with their email address and roles.
      scopes: [account:read]
      get: { upstream: ${name}, path: /wp-json/coursegate/v1/me }
    - name: list_my_courses
      title: List my courses
      description: The courses the member takes.
      scopes: [courses:read]
      get: { upstream: ${name}, path: /wp-json/coursegate/v1/me/courses }
`;
  if (framework === 'moodle')
    return `# Tools for assistants, at /mcp. Each function must also be listed in the plugin's settings.
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
    return fits ? `  - ${line}` : `  # - ${line}    # which scope fits?`;
  });
  const open = proposed.some(({ fits }) => fits);
  return `# What apps may read on behalf of a member. ${lines.length > 0 ? "From the site's API description: keep only what apps should read." : 'Nothing yet. Add one line per path, such as'}
${lines.length > 0 ? '' : `#   - { match: "GET /api/courses/**", upstream: ${name}, scopes: [courses:read] }\n`}${open ? 'routes:' : 'routes: []'}
${lines.length > 0 ? `${lines.join('\n')}\n` : ''}`;
}

/** JSON strings are valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
