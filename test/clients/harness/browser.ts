import { connect } from 'node:net';
import { createBrowser } from '../../support/browser.ts';
import { offeredScopes, reachConsent, SAM } from '../../support/member.ts';

/**
 * The member opens `url` in a new browser, signs in and approves everything. Then the browser opens the redirect URI, if
 * something listens there.
 *
 * @returns the callback URL if nothing listens there
 */
export async function approveInBrowser(url: string, callback: string): Promise<string | undefined> {
  // A program names another redirect URI when its library chooses the port, and none in a pushed request.
  const app = new URL(new URL(url).searchParams.get('redirect_uri') ?? callback);
  const { browser, page } = await reachConsent(url, SAM, createBrowser());
  const fields = { decision: 'approve', scope: offeredScopes(page) };
  const last = await browser.submit(page, fields, (location) => new URL(location).origin !== app.origin);
  if (last.location === undefined) throw new Error(`no redirect to the app: ${last.status}: ${textOf(last.text)}`);
  if (!(await accepts(app))) return last.location;
  const answer = await browser.open(last.location, (location) => new URL(location).origin === app.origin);
  if (answer.status >= 400) throw new Error(`the app answered ${answer.status}: ${textOf(answer.text)}`);
  return undefined;
}

function accepts({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function textOf(html: string): string {
  return html
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .slice(0, 400);
}
