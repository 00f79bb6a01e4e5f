import { ownPathIn } from '../../../config/route-checks.ts';
import { type Answer, isHtml, jsonObject, pageTitle, strings } from '../../doctor/answer.ts';
import type { Framework } from './frameworks.ts';
import type { Visit } from './visit.ts';

/** What the site reveals to an anonymous visitor that its configuration needs. */
export type Discoveries = ReturnType<typeof discover>;

const LOGIN_PATHS = [
  '/wp-login.php',
  '/login/index.php',
  '/users/sign_in',
  '/accounts/login/',
  '/login',
  '/signin',
  '/sign-in',
  '/login.php',
  '/auth/login',
];
const WHOAMI_PATHS = [
  '/coursegate/whoami',
  '/api/me',
  '/api/v1/me',
  '/me.json',
  '/api/user',
  '/api/users/me',
  '/api/whoami',
  '/whoami',
];
const DESCRIPTIONS = ['/openapi.json', '/api/openapi.json', '/swagger.json', '/v3/api-docs'];

export const DISCOVERY_PATHS = [...LOGIN_PATHS, ...WHOAMI_PATHS, ...DESCRIPTIONS, '/api', '/api/'];

/** Text of the site goes into the configuration only if it matches one of these. */
const PATH = /^(\/[A-Za-z0-9._~-]{1,64}){1,8}\/?$/;
const PARAMETER =
  /name=["'](next|return_to|returnTo|return_url|returnUrl|redirect_to|redirect_uri|redirect|continue|wantsurl)["']/;
const MOST_READABLE = 20;

export function discover({ answers, cookies }: Visit, framework: Framework) {
  const loginPath = LOGIN_PATHS.find((path) => hasPasswordField(answers.get(path))) ?? linkedLogin(answers.get('/'));
  const login = loginPath === undefined ? undefined : answers.get(loginPath);
  const described = DESCRIPTIONS.find((path) => isDescription(answers.get(path)));
  const api = described ?? ['/wp-json/', '/api', '/api/'].find((path) => isJson(answers.get(path)));
  return {
    /** The path of a page with a password field; undefined when none was found. */
    loginPath,
    /** The parameter of the login page that holds the return address; undefined when none was found. */
    returnParam: PARAMETER.exec(login?.text ?? '')?.[1],
    sessionCookies: sessionCookies(cookies, framework),
    /** An address that identifies the signed-in member: without a session it answers 401 or 403 in JSON. */
    whoamiPath: WHOAMI_PATHS.find((path) => refusesInJson(answers.get(path))),
    /** Paths with a GET in the site's API description, with `*` for parameters. */
    readable: described === undefined ? [] : readable(answers.get(described)),
    /** The path of the API description, or of an address that answers in JSON. */
    api,
    /** The title of the front page. */
    title: titleOf(answers.get('/')),
  };
}

function hasPasswordField(answer: Answer | undefined): boolean {
  return answer?.status === 200 && isHtml(answer) && /<input[^<>]{0,300}type=["']?password/i.test(answer.text);
}

/** A link on the front page that looks like a login page. */
function linkedLogin(home: Answer | undefined): string | undefined {
  const found = /href=["'](\/[\w./-]{0,80}(?:log-?in|sign-?_?in)[\w./-]{0,40})["'?]/i.exec(home?.text ?? '')?.[1];
  return found !== undefined && PATH.test(found) ? found : undefined;
}

function isJson(answer: Answer | undefined): answer is Answer {
  return answer !== undefined && answer.status !== 404 && answer.status < 500 && jsonObject(answer) !== undefined;
}

function refusesInJson(answer: Answer | undefined): boolean {
  return isJson(answer) && (answer.status === 401 || answer.status === 403);
}

function isDescription(answer: Answer | undefined): boolean {
  if (!isJson(answer) || answer.status !== 200) return false;
  const { openapi, swagger, paths } = jsonObject(answer) ?? {};
  return (typeof openapi === 'string' || typeof swagger === 'string') && typeof paths === 'object' && paths !== null;
}

function readable(answer: Answer | undefined): readonly string[] {
  const document = answer === undefined ? undefined : jsonObject(answer);
  const server = Array.isArray(document?.servers) ? Object(document.servers[0]).url : document?.basePath;
  const base = typeof server === 'string' ? (URL.parse(server, 'http://x')?.pathname ?? '/') : '/';
  const paths = Object.entries(Object(document?.paths)).flatMap(([path, item]) => {
    if (typeof Object(item).get !== 'object') return [];
    const full = base.replace(/\/$/, '') + path;
    const plain = full.replace(/\{[^{}/]*\}/g, '0');
    return PATH.test(plain) ? [full.replace(/\{[^{}/]*\}/g, '*')] : [];
  });
  // In a route, `*` stands for a whole path segment, and the gate's own addresses cannot be routes.
  const canBeRoute = (path: string) =>
    path.split('/').every((part) => part === '*' || !/\*|^\.{1,2}$/.test(part)) && ownPathIn(path) === undefined;
  return [...new Set(strings(paths).filter(canBeRoute))].slice(0, MOST_READABLE);
}

function sessionCookies(names: readonly string[], framework: Framework): readonly string[] {
  if (framework === 'wordpress') return ['wordpress_logged_in_*'];
  if (framework === 'moodle') return ['MoodleSession*'];
  if (framework === 'django') return ['sessionid'];
  return names
    .filter(
      (name) =>
        /sess|sid\b|auth|remember|login/i.test(name) && !/csrf|xsrf|test|^coursegate_|^__Host-coursegate_/i.test(name),
    )
    .slice(0, 5);
}

function titleOf(home: Answer | undefined): string | undefined {
  if (home === undefined || home.status !== 200 || !isHtml(home)) return undefined;
  const name = pageTitle(home)
    .replace(/&amp;/g, '&')
    .replace(/&#0?39;|&rsquo;|&#8217;/g, '’');
  // Only plain words: the title must not be able to inject YAML into the file.
  return /^[\p{L}\p{N}][\p{L}\p{N} .,:&’'|–-]{0,63}$/u.test(name) ? name : undefined;
}
