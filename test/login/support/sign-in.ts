import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../src/operations/log.ts';
import { type App, authorizationRequest, redeem, registerApp } from '../../support/app.ts';
import { type Browser, createBrowser, type Page } from '../../support/browser.ts';
import { offeredScopes } from '../../support/member.ts';
import { startWorld, type World, type WorldOptions } from '../../support/world.ts';

/** A gate whose members enter their passwords on its own page, and which records everything it writes. */
export interface SignInWorld {
  readonly world: World;
  /** Opens the sign-in page as the redirect from an app would. */
  open(browser?: Browser, parameters?: Record<string, string>): Promise<{ browser: Browser; page: Page }>;
  /** Submits a fresh sign-in page. Returns the response without following redirects. */
  attempt(username: string, password: string, headers?: Record<string, string>): Promise<Page>;
  /** The whole flow, from the app's request to its tokens. */
  connect(username: string, password: string): Promise<{ app: App; tokens: Record<string, unknown> }>;
  /** Every byte in the files that the gate has written: logs, access log, store. */
  written(): string;
  close(): Promise<void>;
}

/**
 * The configuration has no keys for `attempts.account` and `attempts.refusalTime`, so they are moved from the settings to
 * the constants (in seconds). When `attempts` does not set them, attempts are practically unlimited and refused at once.
 */
function withAttempts(given: Readonly<Record<string, unknown>>) {
  if (given.attempts === undefined) return { login: given, constants: { login: { attempts: { refusalTime: 0 } } } };
  const {
    account = { requests: 1_000_000, per: 900 },
    refusalTime = 0,
    ...attempts
  } = given.attempts as Record<string, unknown>;
  return { login: { ...given, attempts }, constants: { login: { attempts: { account, refusalTime } } } };
}

export async function startSignIn(
  given: Readonly<Record<string, unknown>>,
  { overrides = {}, ...options }: Partial<WorldOptions> = {},
): Promise<SignInWorld> {
  const { login, constants } = withAttempts(given);
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-written-'));
  const descriptor = (name: string) => openSync(join(folder, name), 'a');
  const world = await startWorld({
    profile: 'A',
    log: createLog('debug', descriptor('log')),
    accessDescriptor: descriptor('access'),
    ...options,
    overrides: { login, constants, log: { access: true }, ...overrides },
  });

  const request = async (parameters: Record<string, string> = {}) => {
    const app = await registerApp(world.origin);
    return { app, request: await authorizationRequest(app, parameters) };
  };
  const open = async (browser = createBrowser(), parameters: Record<string, string> = {}) => ({
    browser,
    page: await browser.open((await request(parameters)).request.url),
  });

  return {
    world,
    open,
    async attempt(username, password, headers = {}) {
      const { browser, page } = await open();
      return post(browser, page, { username, password }, headers);
    },
    async connect(username, password) {
      const { app, request: asked } = await request();
      const browser = createBrowser();
      const consent = await browser.submit(await browser.open(asked.url), { username, password });
      const last = await browser.submit(
        consent,
        { decision: 'approve', scope: offeredScopes(consent) },
        (location) => !location.startsWith(app.redirectUri),
      );
      return { app, tokens: await redeem(app, asked, new URL(last.location ?? '')) };
    },
    written: () =>
      [folder, world.data]
        .flatMap((directory) => readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1')))
        .join('\n'),
    async close() {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Submits the page's form unchanged, with header fields that a browser or a proxy would add. */
export async function post(
  browser: Browser,
  page: Page,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Page> {
  const body = new URLSearchParams({ ...hiddenOf(page), ...fields });
  const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
  const url = new URL('/oauth/sign-in', page.url).href;
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual', headers: { cookie, ...headers } });
  const location = answer.headers.get('location') ?? undefined;
  return { url, status: answer.status, headers: answer.headers, text: await answer.text(), location };
}

/** The hidden fields of a page's first form. The next one cancels. */
function hiddenOf(page: Page): Record<string, string> {
  return Object.fromEntries(
    [...page.text.replace(/<\/form>.*/s, '').matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')],
    ),
  );
}
