import { covers, overlap, segmentsOf } from './route-order.ts';

/** What a framework's own pages call with the member's session, according to its public documentation. */
export interface PageCalls {
  /** Who calls them, as messages put it. */
  readonly by: string;
  readonly paths: readonly string[];
  /** Whether it is an API that apps can be given too, at an address of their own. */
  readonly api: boolean;
  /** What apps need besides a route with `rewrite`. */
  readonly needs?: string;
}

/** Addresses of the drop-ins for apps, below those of a framework. */
const FOR_APPS = ['/wp-json/coursegate/**'];

/** The first entry that fits applies. */
const PAGE_CALLS: readonly PageCalls[] = [
  {
    by: 'the pages of WordPress',
    paths: [
      '/wp-admin/**',
      '/wp-login.php',
      '/wp-comments-post.php',
      '/xmlrpc.php',
      '/wp-cron.php',
      // Runs any other request of the REST API, past the scopes of their routes.
      '/wp-json/batch/**',
    ],
    api: false,
  },
  {
    by: 'the pages of WordPress',
    paths: ['/wp-json/**'],
    api: true,
    needs: 'list their routes in COURSEGATE_ROUTES of the drop-in for WordPress',
  },
  {
    by: 'the pages of Moodle',
    paths: ['/lib/ajax/**', '/webservice/**', '/pluginfile.php/**', '/repository/repository_ajax.php', '/r.php/**'],
    api: false,
  },
  {
    by: 'the pages of Laravel packages',
    paths: [
      '/livewire/**',
      '/sanctum/**',
      '/broadcasting/**',
      '/nova-api/**',
      '/filament/**',
      '/horizon/**',
      '/telescope/**',
    ],
    api: false,
  },
  { by: 'the pages of Rails', paths: ['/rails/**', '/cable'], api: false },
  { by: 'the pages of Django', paths: ['/__debug__/**', '/i18n/setlang/'], api: false },
  {
    by: 'the pages of Frappe',
    paths: ['/api/method/**', '/api/resource/**', '/api/v2/method/**', '/api/v2/document/**'],
    api: true,
  },
  { by: 'the site’s administration', paths: ['/admin/**'], api: false },
];

/** Where routes can give apps an address that the site's pages do not use. */
const APPS = '/api/site';

/** An address for apps, for a pattern at the site. Its wildcards are the same, so that it can be rewritten. */
export function appAddress(pattern: string): string {
  return `${APPS}${pattern}`;
}

/** Whether a pattern is one from `appAddress`. */
export function isAppAddress(pattern: string): boolean {
  return pattern.startsWith(`${APPS}/`);
}

/**
 * What a framework's pages are known to call at addresses that match the pattern. An API is only found if the whole
 * pattern is inside it: `/api/v2/**` of any site covers addresses of Frappe too.
 */
export function knownPageCalls(pattern: string): PageCalls | undefined {
  const segments = segmentsOf(pattern);
  if (FOR_APPS.some((path) => covers(segmentsOf(path), segments))) return undefined;
  return PAGE_CALLS.find(({ paths, api }) =>
    paths.some((path) => {
      const known = segmentsOf(path);
      return covers(known, segments) || (!api && overlap(known, segments));
    }),
  );
}
