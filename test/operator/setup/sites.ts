import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Page = (request: IncomingMessage, response: ServerResponse) => void;

export interface ProbedSite {
  readonly url: string;
  /** The requests that it received. */
  readonly asked: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

/** A site on a free port; unknown pages are 404. */
export async function startProbed(
  pages: Readonly<Record<string, Page>>,
  otherwise: Page = notFound,
): Promise<ProbedSite> {
  const asked: ProbedSite['asked'] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers });
    (pages[url.split('?')[0] ?? ''] ?? otherwise)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const notFound: Page = (_request, response) => {
  response.writeHead(404, { 'content-type': 'text/html' }).end('<html><title>404</title></html>');
};
export const html =
  (body: string, headers: Record<string, string | string[]> = {}): Page =>
  (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
      .end(`<!doctype html><html>${body}</html>`);
export const json =
  (value: unknown, status = 200, headers: Record<string, string | string[]> = {}): Page =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

const form = (action: string, fields: string) =>
  `<form method="post" action="${action}">${fields}<input type="password" name="password"></form>`;

/** The pages that sites of each framework show without a sign-in. */
export const KINDS: Readonly<Record<string, Readonly<Record<string, Page>>>> = {
  wordpress: {
    '/': html(
      '<head><title>Harbour Lane &amp; Co</title><meta name="generator" content="WordPress 6.1.6" /><link rel="https://api.w.org/" href="/wp-json/" /></head><script src="/wp-includes/js/jquery.js"></script>',
      {
        link: '<http://127.0.0.1/wp-json/>; rel="https://api.w.org/"',
      },
    ),
    '/wp-json/': json({ name: 'x', namespaces: ['oembed/1.0', 'wp/v2'], routes: {} }),
    '/wp-login.php': html(
      '<form action="/wp-login.php"><input type="text" name="log"><input type="password" name="pwd"><input type="hidden" name="redirect_to" value="/wp-admin/"><input type="submit" name="wp-submit"></form>',
      { 'set-cookie': 'wordpress_test_cookie=WP%20Cookie%20check; path=/' },
    ),
  },
  moodle: {
    '/': html(
      '<head><title>Campus</title><meta name="keywords" content="moodle, Campus" /><link href="/theme/styles.php/boost/1/all"></head><script>M.cfg = {"wwwroot":"x"};</script>',
      {
        'set-cookie': 'MoodleSession=abc; path=/',
      },
    ),
    '/login/index.php': html(
      form('/login/index.php', '<input type="hidden" name="logintoken" value="x"><input name="username">'),
    ),
  },
  learnhouse: {
    '/': json({ Message: 'Welcome to LearnHouse ✨' }),
    '/api/v1/instance/info': json({
      mode: 'oss',
      tenancy: 'single',
      multi_org_enabled: false,
      default_org_slug: 'harbour',
      frontend_domain: 'localhost:3000',
      top_domain: 'localhost',
    }),
  },
  frappe: {
    '/': html('<title>Learning</title><script src="/assets/lms/frontend/index.js"></script>', {
      'set-cookie': ['sid=Guest; Path=/; HttpOnly', 'system_user=no; Path=/'],
    }),
    '/api/method/lms.lms.api.get_branding': json({ message: { app_name: 'Learning' } }),
    '/login': html(form('', '')),
  },
  django: {
    '/': html('<title>School</title><a href="/accounts/login/?next=/">Sign in</a>', {
      'set-cookie': 'csrftoken=x; Path=/',
    }),
    '/accounts/login/': html(
      form('', '<input type="hidden" name="csrfmiddlewaretoken" value="x"><input type="hidden" name="next" value="/">'),
    ),
    '/admin/login/': html('<title>Log in | Django site admin</title><input type="password" name="password">'),
  },
  rails: {
    '/': html(
      '<head><title>School</title><meta name="csrf-param" content="authenticity_token" /><meta name="csrf-token" content="x" /></head>',
      {
        'set-cookie': '_school_session=x; path=/; HttpOnly',
        'x-runtime': '0.012345',
        'x-request-id': 'f3a1',
      },
    ),
    '/users/sign_in': html(
      form('/users/sign_in', '<input type="hidden" name="authenticity_token" value="x"><input name="user[email]">'),
    ),
  },
  laravel: {
    '/': html('<head><meta name="csrf-token" content="x"></head>', {
      'set-cookie': ['XSRF-TOKEN=x; path=/', 'laravel_session=x; path=/; httponly'],
    }),
    '/login': html(form('/login', '<input type="hidden" name="_token" value="x">')),
  },
  spring: {
    '/': html('<title>School</title>', { 'set-cookie': 'JSESSIONID=1; Path=/; HttpOnly' }),
    '/login': html(form('/login', '<input name="_csrf" type="hidden" value="x">')),
    '/coursegate-is-not-here': json(
      { timestamp: '2026', status: 404, error: 'Not Found', path: '/coursegate-is-not-here' },
      404,
    ),
  },
  express: {
    '/': html('<title>School</title>', { 'x-powered-by': 'Express', 'set-cookie': 'connect.sid=s%3Ax; Path=/' }),
    '/login': html(form('/login', '')),
  },
};
