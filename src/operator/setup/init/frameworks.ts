import { field, isHtml, type JsonObject, jsonObject, strings } from '../../doctor/answer.ts';
import type { Framework } from '../names.ts';
import type { SiteVisit } from './visit.ts';

type Test = (visit: SiteVisit) => boolean;

/** Evidence for a framework: how strong it is, how it is printed (so never text of the site), and how it is tested. */
type Mark = readonly [weight: 1 | 2 | 3 | 4, words: string, seen: Test];

export interface Guess {
  readonly framework: Framework;
  readonly sure: 'given' | 'sure' | 'likely' | 'unknown';
  /** The evidence for this framework. */
  readonly marks: readonly string[];
  /** The evidence for other frameworks. */
  readonly others: readonly string[];
}

const cookie =
  (pattern: RegExp): Test =>
  ({ cookies }) =>
    [...cookies].some((name) => pattern.test(name));

const header =
  (name: string, pattern: RegExp): Test =>
  ({ answers }) =>
    [...answers.values()].some((answer) => pattern.test(field(answer, name)));

/** Whether any page, or the page at `at`, matches. */
const page =
  (pattern: RegExp, at?: string): Test =>
  ({ answers }) =>
    [...answers].some(([path, one]) => (at ?? path) === path && isHtml(one) && pattern.test(one.text));

const json =
  (path: string, matches: (document: JsonObject) => boolean): Test =>
  ({ answers }) => {
    const answer = answers.get(path);
    const document = answer === undefined ? undefined : jsonObject(answer);
    return document !== undefined && matches(document);
  };

const all =
  (...tests: readonly Test[]): Test =>
  (visit) =>
    tests.every((test) => test(visit));

const any =
  (...tests: readonly Test[]): Test =>
  (visit) =>
    tests.some((test) => test(visit));

const MISSING = '/coursegate-is-not-here';
const FRAPPE_LEARNING = '/api/method/lms.lms.api.get_branding';

/** Every pattern spans at most a few hundred characters, so that no page can make matching slow. */
const MARKS: Readonly<Record<Exclude<Framework, 'generic'>, readonly Mark[]>> = {
  wordpress: [
    [3, 'the generator in its pages', page(/<meta[^<>]{1,200}generator[^<>]{1,100}WordPress/i)],
    [3, 'a link to its REST API', any(header('link', /api\.w\.org/), page(/api\.w\.org/))],
    [4, 'wp/v2 at /wp-json/', json('/wp-json/', ({ namespaces }) => strings(namespaces).includes('wp/v2'))],
    [
      3,
      'the form of wp-login.php',
      all(page(/name=["']log["']/, '/wp-login.php'), page(/name=["']pwd["']/, '/wp-login.php')),
    ],
    [2, 'files under wp-content', page(/\/wp-(content|includes)\//)],
    [3, 'the cookie wordpress_test_cookie', cookie(/^wordpress_test_cookie$/)],
  ],
  moodle: [
    [4, 'the cookie MoodleSession', cookie(/^MoodleSession/)],
    [3, 'a logintoken at /login/index.php', page(/name=["']logintoken["']/, '/login/index.php')],
    [3, 'M.cfg in its pages', page(/\bM\.cfg\s*=|<meta[^<>]{1,200}keywords[^<>]{1,200}moodle/i)],
    [2, 'styles of its themes', page(/\/theme\/(styles|yui_combo|image)\.php/)],
  ],
  learnhouse: [
    [
      4,
      'the organization at /api/v1/instance/info',
      json(
        '/api/v1/instance/info',
        ({ default_org_slug, tenancy }) => typeof default_org_slug === 'string' && typeof tenancy === 'string',
      ),
    ],
    [3, 'the welcome of its API', json('/', ({ Message }) => /^Welcome to LearnHouse/.test(String(Message)))],
    [2, 'its name in its pages', page(/LearnHouse/)],
  ],
  frappe: [
    [4, 'the branding of Frappe Learning', json(FRAPPE_LEARNING, ({ message }) => typeof message === 'object')],
    [3, 'files of Frappe Learning', page(/\/assets\/lms\//)],
    [2, 'the cookie system_user', cookie(/^system_user$/)],
  ],
  rails: [
    [3, 'csrf-param authenticity_token in its pages', page(/csrf-param["'][^<>]{1,100}authenticity_token/)],
    [2, 'an authenticity_token in a form', page(/name=["']authenticity_token["']/)],
    [3, 'the form of Devise at /users/sign_in', page(/name=["']user\[(email|login|password)\]["']/, '/users/sign_in')],
    [2, 'X-Runtime beside X-Request-Id', all(header('x-runtime', /^\d+\.\d+$/), header('x-request-id', /./))],
    [2, 'a cookie such as _school_session', cookie(/^_\w+_session$/)],
  ],
  django: [
    [3, 'the cookie csrftoken', cookie(/^csrftoken$/)],
    [3, 'a csrfmiddlewaretoken in a form', page(/name=["']csrfmiddlewaretoken["']/)],
    [3, 'the sign-in page of the Django admin', page(/Django (site admin|administration)/i, '/admin/login/')],
    [1, 'the cookie sessionid', cookie(/^sessionid$/)],
  ],
  laravel: [
    [4, 'the cookie laravel_session', cookie(/^laravel[_-]session$/)],
    [3, 'XSRF-TOKEN beside a session cookie', all(cookie(/^XSRF-TOKEN$/), cookie(/[a-z0-9][_-]session$/i))],
    [2, 'a _token in a form', page(/name=["']_token["']/)],
    [
      1,
      'csrf-token without csrf-param',
      (visit) => page(/<meta[^<>]{1,200}csrf-token/)(visit) && !page(/csrf-param/)(visit),
    ],
  ],
  spring: [
    [3, 'a _csrf in a form', page(/name=["']_csrf["']/)],
    [2, 'the cookie JSESSIONID', cookie(/^(JSESSIONID|SESSION)$/)],
    [3, 'the error page of Spring Boot', any(page(/Whitelabel Error Page/), json(MISSING, isSpringError))],
    [
      2,
      'the health of Spring Boot at /actuator/health',
      json('/actuator/health', ({ status }) => typeof status === 'string'),
    ],
  ],
  express: [
    [3, 'X-Powered-By: Express', header('x-powered-by', /^Express$/)],
    [3, 'the cookie connect.sid', cookie(/^connect\.sid$/)],
  ],
};

/** The paths that the marks above need. */
export const MARK_PATHS = [
  '/',
  '/wp-json/',
  '/wp-login.php',
  '/login/index.php',
  '/users/sign_in',
  '/admin/login/',
  '/actuator/health',
  '/api/v1/instance/info',
  FRAPPE_LEARNING,
  MISSING,
];

const isPhp = any(cookie(/^PHPSESSID$/), header('x-powered-by', /^PHP/));

function isSpringError({ timestamp, path, status }: JsonObject): boolean {
  return timestamp !== undefined && path !== undefined && status === 404;
}

/** Guesses the framework of a site. A single mark may be a coincidence, so `sure` takes at least two. */
export function guessFramework(visit: SiteVisit): Guess {
  const seen = (Object.entries(MARKS) as [Framework, readonly Mark[]][])
    .map(([framework, marks]) => {
      const found = marks.filter(([, , test]) => test(visit));
      const score = found.reduce((sum, [weight]) => sum + weight, 0);
      return { framework, score, marks: found.map(([, words]) => words) };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  const [best, second] = seen;
  const generic = { framework: 'generic', sure: 'unknown' } as const;
  if (best === undefined)
    return { ...generic, marks: isPhp(visit) ? ['PHP without a known framework'] : [], others: [] };
  const { framework, score, marks } = best;
  const lead = score - (second?.score ?? 0);
  const listed = (some: typeof seen) => some.flatMap((one) => one.marks.map((words) => `${one.framework}: ${words}`));
  // A single weak mark does not justify installing a framework's drop-in.
  if (score < 3 || lead < 1) return { ...generic, marks: [], others: listed(seen) };
  const sure = marks.length > 1 && score >= 5 && lead >= 3 ? 'sure' : 'likely';
  return { framework, sure, marks, others: listed(seen.slice(1)) };
}
