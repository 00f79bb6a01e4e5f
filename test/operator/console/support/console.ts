import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { COMMAND_SECRET } from '../../../support/commands.ts';
import { startWorld, type World, type WorldOptions } from '../../../support/world.ts';

/** A page of the console as the browser gets it. */
export interface Shown {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of Set-Cookie. */
  readonly cookies: readonly string[];
  readonly text: string;
  /** Of a redirect: the path that it leads to. */
  readonly location: string | undefined;
}

/** A signed-in session of the console, over HTTP. Redirects are not followed. */
export interface ConsoleSession {
  readonly cookie: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Shown>;
  /** Posts a form with the token of the first page. */
  post(path: string, form?: Readonly<Record<string, string>>): Promise<Shown>;
}

/** A world whose gate accepts COMMAND_SECRET. */
export function startConsoleWorld(options: Partial<WorldOptions> = {}): Promise<World> {
  const { environment, overrides, ...others } = options;
  return startWorld({
    profile: 'A',
    ...others,
    environment: { COMMAND_SECRET, ...environment },
    overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } }, ...overrides },
  });
}

export interface Asking extends Pick<RequestOptions, 'ca' | 'cert' | 'key'> {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** Leaves out what a browser says about the page that a form is on. */
  readonly bare?: boolean;
}

/** Sends what a browser sends for a page of its own. Not fetch(), which says that it is a script. */
export async function ask(admin: string, path: string, asking: Asking = {}): Promise<Shown> {
  const { method = 'GET', headers = {}, form, bare = false, ...tls } = asking;
  const request = (admin.startsWith('https:') ? httpsRequest : httpRequest)(admin + path, {
    method,
    ...tls,
    headers: {
      accept: 'text/html',
      ...(method === 'POST' && !bare ? { origin: admin, 'sec-fetch-site': 'same-origin' } : {}),
      ...headers,
    },
  });
  request.end(form === undefined ? '' : String(new URLSearchParams(form)));
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const { location, 'set-cookie': cookies = [] } = answer.headers;
  return { status: answer.statusCode ?? 0, headers: answer.headers, cookies, location, text: await text(answer) };
}

/** Signs in with the form. */
export async function openConsole(world: Pick<World, 'admin'>, secret = COMMAND_SECRET): Promise<ConsoleSession> {
  const entered = await ask(world.admin, '/console/sign-in', { method: 'POST', form: { secret } });
  const cookie = entered.cookies[0]?.split(';')[0] ?? '';
  if (entered.status !== 303 || cookie === '') throw new Error(`cannot sign in: ${entered.status} ${entered.text}`);
  const get: ConsoleSession['get'] = (path, headers = {}) =>
    ask(world.admin, path, { headers: { cookie, ...headers } });
  let csrf: string | undefined;
  return {
    cookie,
    get,
    async post(path, form = {}) {
      csrf ??= csrfOf((await get('/console')).text);
      return ask(world.admin, path, { method: 'POST', headers: { cookie }, form: { csrf, ...form } });
    },
  };
}

export function csrfOf(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** A page of a real browser that is signed in and shows the first page of the console. Close its context. */
export async function browseConsole(
  browser: Browser,
  { admin }: Pick<World, 'admin'>,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ baseURL: admin, ...options });
  const page = await context.newPage();
  await page.goto('/console');
  await page.getByLabel('Admin secret').fill(COMMAND_SECRET);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/console');
  return page;
}
