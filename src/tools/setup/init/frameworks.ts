import { field, isHtml, jsonObject } from '../../doctor/answer.ts';
import type { Visit } from './visit.ts';

export const FRAMEWORKS = [
  'wordpress',
  'moodle',
  'django',
  'rails',
  'laravel',
  'express',
  'spring',
  'generic',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** Evidence for a framework, and how strong it is. `words` is printed, so it is never text of the site. */
interface Mark {
  readonly framework: Exclude<Framework, 'generic'>;
  readonly weight: 1 | 2 | 3 | 4;
  readonly words: string;
  readonly seen: (site: Sight) => boolean;
}

/** What the marks can test of a visit. */
export interface Sight {
  readonly cookie: (pattern: RegExp) => boolean;
  /** Whether any page, or the page at `path`, matches. */
  readonly page: (pattern: RegExp, path?: string) => boolean;
  readonly header: (name: string, pattern: RegExp) => boolean;
  readonly json: (path: string) => Readonly<Record<string, unknown>> | undefined;
}

export interface Guess {
  readonly framework: Framework;
  readonly sure: 'told' | 'sure' | 'likely' | 'perhaps' | 'unknown';
  /** The evidence for this framework. */
  readonly marks: readonly string[];
  /** The evidence for other frameworks. */
  readonly others: readonly string[];
}

/** Every pattern spans at most a few hundred characters, so that no page can make matching slow. */
const MARKS: readonly Mark[] = [
  mark('wordpress', 3, 'the generator in its pages', ({ page }) =>
    page(/<meta[^<>]{1,200}generator[^<>]{1,100}WordPress/i),
  ),
  mark(
    'wordpress',
    3,
    'a link to its REST API',
    ({ page, header }) => header('link', /api\.w\.org/) || page(/api\.w\.org/),
  ),
  mark('wordpress', 4, 'wp/v2 at /wp-json/', ({ json }) => {
    const namespaces = json('/wp-json/')?.namespaces;
    return Array.isArray(namespaces) && namespaces.includes('wp/v2');
  }),
  mark(
    'wordpress',
    3,
    'the form of wp-login.php',
    ({ page }) => page(/name=["']log["']/, '/wp-login.php') && page(/name=["']pwd["']/, '/wp-login.php'),
  ),
  mark('wordpress', 2, 'files under wp-content', ({ page }) => page(/\/wp-(content|includes)\//)),
  mark('wordpress', 3, 'the cookie wordpress_test_cookie', ({ cookie }) => cookie(/^wordpress_test_cookie$/)),
  mark('moodle', 4, 'the cookie MoodleSession', ({ cookie }) => cookie(/^MoodleSession/)),
  mark('moodle', 3, 'a logintoken at /login/index.php', ({ page }) =>
    page(/name=["']logintoken["']/, '/login/index.php'),
  ),
  mark('moodle', 3, 'M.cfg in its pages', ({ page }) =>
    page(/\bM\.cfg\s*=|<meta[^<>]{1,200}keywords[^<>]{1,200}moodle/i),
  ),
  mark('moodle', 2, 'styles of its themes', ({ page }) => page(/\/theme\/(styles|yui_combo|image)\.php/)),
  mark('rails', 3, 'csrf-param authenticity_token in its pages', ({ page }) =>
    page(/csrf-param["'][^<>]{1,100}authenticity_token/),
  ),
  mark('rails', 2, 'an authenticity_token in a form', ({ page }) => page(/name=["']authenticity_token["']/)),
  mark('rails', 3, 'the form of Devise at /users/sign_in', ({ page }) =>
    page(/name=["']user\[(email|login|password)\]["']/, '/users/sign_in'),
  ),
  mark(
    'rails',
    2,
    'X-Runtime beside X-Request-Id',
    ({ header }) => header('x-runtime', /^\d+\.\d+$/) && header('x-request-id', /./),
  ),
  mark('rails', 2, 'a cookie such as _school_session', ({ cookie }) => cookie(/^_\w+_session$/)),
  mark('django', 3, 'the cookie csrftoken', ({ cookie }) => cookie(/^csrftoken$/)),
  mark('django', 3, 'a csrfmiddlewaretoken in a form', ({ page }) => page(/name=["']csrfmiddlewaretoken["']/)),
  mark('django', 3, 'the sign-in page of the Django admin', ({ page }) =>
    page(/Django (site admin|administration)/i, '/admin/login/'),
  ),
  mark('django', 1, 'the cookie sessionid', ({ cookie }) => cookie(/^sessionid$/)),
  mark('laravel', 4, 'the cookie laravel_session', ({ cookie }) => cookie(/^laravel[_-]session$/)),
  mark(
    'laravel',
    3,
    'XSRF-TOKEN beside a session cookie',
    ({ cookie }) => cookie(/^XSRF-TOKEN$/) && cookie(/[a-z0-9][_-]session$/i),
  ),
  mark('laravel', 2, 'a _token in a form', ({ page }) => page(/name=["']_token["']/)),
  mark(
    'laravel',
    1,
    'csrf-token without csrf-param',
    ({ page }) => page(/<meta[^<>]{1,200}csrf-token/) && !page(/csrf-param/),
  ),
  mark('spring', 3, 'a _csrf in a form', ({ page }) => page(/name=["']_csrf["']/)),
  mark('spring', 2, 'the cookie JSESSIONID', ({ cookie }) => cookie(/^(JSESSIONID|SESSION)$/)),
  mark('spring', 3, 'the error page of Spring Boot', ({ page, json }) => {
    const error = json('/coursegate-is-not-here');
    return (
      page(/Whitelabel Error Page/) ||
      (error?.timestamp !== undefined && error.path !== undefined && error.status === 404)
    );
  }),
  mark(
    'spring',
    2,
    'the health of Spring Boot at /actuator/health',
    ({ json }) => typeof json('/actuator/health')?.status === 'string',
  ),
  mark('express', 3, 'X-Powered-By: Express', ({ header }) => header('x-powered-by', /^Express$/)),
  mark('express', 3, 'the cookie connect.sid', ({ cookie }) => cookie(/^connect\.sid$/)),
];

/** The paths that the marks above need. */
export const MARK_PATHS = [
  '/',
  '/wp-json/',
  '/wp-login.php',
  '/login/index.php',
  '/users/sign_in',
  '/admin/login/',
  '/actuator/health',
  '/coursegate-is-not-here',
];

/** Guesses the framework of a site. A single mark may be a coincidence, so `sure` takes at least two. */
export function guessFramework(site: Sight): Guess {
  const seen = MARKS.filter((one) => one.seen(site));
  const scores = new Map<Framework, { score: number; marks: string[] }>();
  for (const { framework, weight, words } of seen) {
    const entry = scores.get(framework) ?? { score: 0, marks: [] };
    entry.score += weight;
    entry.marks.push(words);
    scores.set(framework, entry);
  }
  const [best, second] = [...scores].toSorted(([, a], [, b]) => b.score - a.score);
  const php = site.cookie(/^PHPSESSID$/) || site.header('x-powered-by', /^PHP/);
  if (best === undefined) {
    return {
      framework: 'generic',
      sure: 'unknown',
      marks: php ? ['PHP without a known framework'] : [],
      others: [],
    };
  }
  const [framework, { score, marks }] = best;
  const lead = score - (second?.[1].score ?? 0);
  const sure = marks.length > 1 && score >= 5 && lead >= 3 ? 'sure' : score >= 3 && lead >= 1 ? 'likely' : 'perhaps';
  const others = [...scores]
    .filter(([name]) => name !== framework)
    .flatMap(([name, one]) => one.marks.map((words) => `${name}: ${words}`));
  // A single weak mark does not justify installing a framework's drop-in.
  return sure === 'perhaps'
    ? {
        framework: 'generic',
        sure: 'unknown',
        marks: [],
        others: [...marks.map((words) => `${framework}: ${words}`), ...others],
      }
    : { framework, sure, marks, others };
}

export function sightOf({ answers, cookies }: Visit): Sight {
  const all = [...answers.values()];
  return {
    cookie: (pattern) => cookies.some((name) => pattern.test(name)),
    page: (pattern, path) => {
      const pages = path === undefined ? all : [answers.get(path)];
      return pages.some((answer) => answer !== undefined && isHtml(answer) && pattern.test(answer.text));
    },
    header: (name, pattern) => all.some((answer) => pattern.test(field(answer, name))),
    json: (path) => {
      const answer = answers.get(path);
      return answer === undefined ? undefined : jsonObject(answer);
    },
  };
}

function mark(framework: Mark['framework'], weight: Mark['weight'], words: string, seen: Mark['seen']): Mark {
  return { framework, weight, words, seen };
}
