import { connect } from 'node:net';
import { createBrowser } from '../../support/browser.ts';
import { offeredScopes, reachConsent, SAM, tickedScopes } from '../../support/member.ts';

/** Where the member's browser ends. */
export interface Arrival {
  /** The redirect URI with the parameters of the authorization response. */
  readonly url: string;
  /** Whether something listens there. */
  readonly isHeard: boolean;
}

/**
 * The member opens `url` in a new browser, signs in and approves everything, or what the page has ticked. Then the
 * browser opens the redirect URI, if something listens there.
 */
export async function approveInBrowser(url: string, callback: string, asShown: boolean): Promise<Arrival> {
  // A program names another redirect URI when its library chooses the port, and none in a pushed request.
  const app = new URL(new URL(url).searchParams.get('redirect_uri') ?? callback);
  const { browser, page } = await reachConsent(url, SAM, createBrowser());
  const fields = { decision: 'approve', scope: asShown ? tickedScopes(page) : offeredScopes(page) };
  const last = await browser.submit(page, fields, (location) => new URL(location).origin !== app.origin);
  if (last.location === undefined) throw new Error(`no redirect to the app: ${last.status}: ${textOf(last.text)}`);
  if (!(await accepts(app))) return { url: last.location, isHeard: false };
  const answer = await browser.open(last.location, (location) => new URL(location).origin === app.origin);
  if (answer.status >= 400) throw new Error(`the app answered ${answer.status}: ${textOf(answer.text)}`);
  return { url: last.location, isHeard: true };
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
