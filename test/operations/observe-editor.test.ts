import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';

const COOKIE = 'school=signed-in';
const NONCE = { cookie: COOKIE, 'x-wp-nonce': 'a1b2c3d4e5', accept: 'application/json, */*;q=0.1' };
const JSON_BODY = { 'content-type': 'application/json' };
const FORM = {
  'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
  'x-requested-with': 'XMLHttpRequest',
};
const API = '/wp-json/wp/v2';

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** What the block editor of WordPress 6 requests when a post is opened, changed and saved. */
const EDITOR: readonly Call[] = [
  { path: '/wp-admin/post.php?post=7&action=edit', headers: { cookie: COOKIE } },
  ...[
    `${API}/posts/7?context=edit`,
    `${API}/types/post?context=edit`,
    `${API}/types?per_page=100&context=view`,
    `${API}/taxonomies?context=edit`,
    `${API}/categories?per_page=100`,
    `${API}/tags?per_page=100`,
    `${API}/users/me`,
    `${API}/users?who=authors&per_page=50`,
    `${API}/users/1`,
    `${API}/settings`,
    `${API}/themes?status=active`,
    `${API}/block-types?context=edit`,
    `${API}/block-patterns/patterns`,
    `${API}/block-patterns/categories`,
    `${API}/pages?parent_exclude=7`,
    `${API}/media?per_page=1`,
    `${API}/comments?post=7`,
    '/wp-json/oembed/1.0/proxy?url=https%3A%2F%2Fvideo.example%2F1',
    '/wp-json/llms/v1/courses?per_page=10',
    '/wp-json/',
  ].map((path) => ({ path, headers: NONCE })),
  { method: 'OPTIONS', path: `${API}/posts/7`, headers: NONCE },
  { method: 'OPTIONS', path: `${API}/media`, headers: NONCE },
  {
    method: 'POST',
    path: `${API}/posts/7?_locale=user`,
    headers: { ...NONCE, ...JSON_BODY, 'x-http-method-override': 'PUT' },
    body: '{"title":"A"}',
  },
  { method: 'POST', path: `${API}/posts/7/autosaves`, headers: { ...NONCE, ...JSON_BODY }, body: '{"title":"A"}' },
  { method: 'POST', path: '/wp-json/batch/v1', headers: { ...NONCE, ...JSON_BODY }, body: '{"requests":[]}' },
  {
    method: 'POST',
    path: `${API}/media`,
    headers: { ...NONCE, 'content-type': 'multipart/form-data; boundary=x' },
    body: '--x--\r\n',
  },
  { method: 'DELETE', path: `${API}/posts/9`, headers: NONCE },
  { method: 'POST', path: '/wp-admin/admin-ajax.php', headers: { ...FORM, cookie: COOKIE }, body: 'action=heartbeat' },
];

/** What else WordPress is asked in the meantime: by visitors, by a tool with an API key, and by another service. */
const OTHERS: readonly Call[] = [
  { path: '/' },
  { path: '/feed/' },
  { path: '/wp-content/logo.svg' },
  { path: `${API}/posts?per_page=3` },
  { path: '/wp-json/llms/v1/courses', headers: { authorization: 'Basic Y2tfMTpjc18x' } },
  { method: 'POST', path: '/wc-api/paid', headers: JSON_BODY, body: '{}' },
];

/** Like WordPress: the REST API takes the cookie with a nonce, an API key, or serves what is public. */
const wordpress: Script = async (request, response, recorded) => {
  await recorded.whole;
  const { method, headers, url = '' } = request;
  const answer = (status: number, type: string, body: string) =>
    void response.writeHead(status, { 'content-type': type }).end(body);
  const isMember = headers.cookie?.includes(COOKIE) === true && headers['x-wp-nonce'] !== undefined;
  const isApp = headers['x-member-id'] !== undefined || headers.authorization?.startsWith('Basic ') === true;
  const isPublic = method === 'GET' && (/^\/wp-json\/(wp\/v2\/posts\?per|$)/.test(url) || url.startsWith('/wc-api'));
  if (url.startsWith('/wp-admin/admin-ajax.php'))
    return headers.cookie === COOKIE
      ? answer(200, 'application/json', '{"server_time":1}')
      : answer(400, 'text/html', '0');
  if (url.startsWith('/wc-api/')) return answer(200, 'application/json', '{}');
  if (url.endsWith('.svg')) return answer(200, 'image/svg+xml', '<svg/>');
  if (url === '/feed/') return answer(200, 'application/rss+xml', '<rss/>');
  if (!url.startsWith('/wp-json/')) return answer(200, 'text/html', '<!doctype html>');
  if (isMember || isApp || isPublic) return answer(200, 'application/json; charset=UTF-8', '[]');
  return answer(401, 'application/json', '{"code":"rest_forbidden"}');
};

describe('the proposal after a visit to the WordPress editor', () => {
  let site: RecordingUpstream;
  let world: ProxyWorld;
  let proposed: { readonly text: string; readonly routes: readonly { match: string; rewrite?: string }[] };

  const send = async (calls: readonly Call[]) => {
    const outcomes: string[] = [];
    for (const { method = 'GET', path, headers = {}, body } of calls) {
      const init = { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) } as const;
      const answer = await fetch(world.origin + path, init);
      await answer.arrayBuffer();
      outcomes.push(`${answer.status} ${method} ${path}`);
    }
    return outcomes;
  };
  const succeed = (calls: readonly Call[]) => calls.map(({ method = 'GET', path }) => `200 ${method} ${path}`);
  /** The requests that the site received, with the cookie that it takes members by. */
  const received = () => site.requests.map((one) => `${one.method} ${one.target} ${one.values('cookie').join()}`);

  beforeAll(async () => {
    site = await startRecordingUpstream(wordpress);
    world = await startProxyWorld({ upstream: site.url, config: { routes: [], enforcement: { mode: 'observe' } } });
    expect(await send([...EDITOR, ...OTHERS])).toEqual(succeed([...EDITOR, ...OTHERS]));
    const text = await (await fetch(`${world.admin}/observed`)).text();
    proposed = { text, ...(parse(text) as { routes: typeof proposed.routes }) };
    await world.close();
    world = await startProxyWorld({ upstream: site.url, config: { routes: proposed.routes } });
  });
  afterAll(async () => {
    await world?.close();
    await site?.close();
  });

  it('has routes at addresses for apps only, for what the catalogue has a scope for', () => {
    expect(proposed.routes.map(({ match, rewrite }) => `${match} → ${rewrite}`)).toEqual([
      'GET /api/site/wp-json/llms/v1/courses → /wp-json/llms/v1/courses',
      'GET /api/site/wp-json/wp/v2/comments → /wp-json/wp/v2/comments',
      'GET /api/site/wp-json/wp/v2/pages → /wp-json/wp/v2/pages',
      'GET /api/site/wp-json/wp/v2/posts → /wp-json/wp/v2/posts',
      'DELETE /api/site/wp-json/wp/v2/posts/* → /wp-json/wp/v2/posts/*',
      'GET /api/site/wp-json/wp/v2/posts/* → /wp-json/wp/v2/posts/*',
      'POST /api/site/wp-json/wp/v2/posts/* → /wp-json/wp/v2/posts/*',
      'POST /api/site/wp-json/wp/v2/posts/*/autosaves → /wp-json/wp/v2/posts/*/autosaves',
      'GET /api/site/wp-json/wp/v2/types/post → /wp-json/wp/v2/types/post',
      'GET /api/site/wp-json/wp/v2/users/me → /wp-json/wp/v2/users/me',
      'GET /feed/ → undefined',
    ]);
  });

  it.each([
    /- POST \/wp-admin\/admin-ajax\.php: called by the pages of WordPress, and not meant for apps; left out/,
    /- POST \/wp-json\/batch\/v1: called by the pages of WordPress, and not meant for apps; left out/,
    /- GET \/wp-json\/wp\/v2\/users: called by the pages of WordPress, and no scope of the catalogue is called like it/,
    /- POST \/wc-api\/paid: sent without signing in, as other services report events; left out/,
    /Before apps can use these routes: list their routes in COURSEGATE_ROUTES/,
  ])('says %s', (note) => {
    expect(proposed.text).toMatch(note);
  });

  it('refuses none of the calls of the editor, of visitors and of tools when it is in use, and changes none', async () => {
    const before = received();
    expect(await send([...EDITOR, ...OTHERS])).toEqual(succeed([...EDITOR, ...OTHERS]));
    expect(received().slice(before.length)).toEqual(before);
  });

  it('gives apps with a token the data at their own addresses', async () => {
    const headers = { authorization: `Bearer ${world.token}` };
    const answer = await fetch(`${world.origin}/api/site/wp-json/llms/v1/courses?page=2`, { headers });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    expect(site.last().target).toBe('/wp-json/llms/v1/courses?page=2');
    expect(site.last().values('x-member-id')).toEqual(['m-1']);
    expect((await fetch(`${world.origin}/api/site/wp-json/wp/v2/posts/7`, { headers })).status).toBe(403);
    const none = await fetch(`${world.origin}/api/site/wp-json/llms/v1/courses`, { headers: { cookie: COOKIE } });
    expect(none.status).toBe(401);
  });
});
