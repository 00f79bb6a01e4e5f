import { type Browser, createBrowser, type Page } from './browser.ts';

export const SAM = { login: 'student@example.com', password: 'student' } as const;
export const OLU = { login: 'other@example.com', password: 'other' } as const;

/** Opens an authorization URL as a member would, up to the consent page. */
export async function reachConsent(
  url: string,
  member: { login: string; password: string } = SAM,
  browser: Browser = createBrowser(),
): Promise<{ browser: Browser; page: Page }> {
  let page = await browser.open(url);
  if (page.text.includes('id="school-login"')) {
    page = await browser.submit(page, { login: member.login, password: member.password });
  }
  return { browser, page };
}

/** The scopes that a consent page offers. */
export function offeredScopes(page: Page): string[] {
  return [...page.text.matchAll(/name="scope" value="([^"]+)"/g)].map((match) => match[1] ?? '');
}

/** Those of them that are ticked when the page is opened. */
export function tickedScopes(page: Page): string[] {
  return [...page.text.matchAll(/name="scope" value="([^"]+)" checked/g)].map((match) => match[1] ?? '');
}

/** Signs in, approves (all scopes by default), and returns the redirect to the app without following it. */
export async function approve(
  url: string,
  redirectUri: string,
  options: { member?: { login: string; password: string }; scopes?: string[]; browser?: Browser } = {},
): Promise<URL> {
  const { browser, page } = await reachConsent(url, options.member, options.browser);
  const scope = options.scopes ?? offeredScopes(page);
  const last = await browser.submit(
    page,
    { decision: 'approve', scope },
    (location) => !location.startsWith(redirectUri),
  );
  if (last.location === undefined)
    throw new Error(`no redirect to the app: ${last.status}: ${last.text.slice(0, 400)}`);
  return new URL(last.location);
}

/** Signs a member in at the course site's own page, replacing any earlier session. */
export async function signIn(
  browser: Browser,
  origin: string,
  member: { login: string; password: string },
): Promise<void> {
  browser.cookies.delete('school_session');
  const page = await browser.open(`${origin}/login`);
  const after = await browser.submit(page, { login: member.login, password: member.password });
  if (!after.text.includes('id="school-my-courses"')) throw new Error(`not signed in: ${after.status} at ${after.url}`);
}
