import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { type App, authorizationRequest, introspect, redeem, registerApp } from '../../support/app.ts';
import type { Browser, Page } from '../../support/browser.ts';
import { offeredScopes } from '../../support/member.ts';
import { startWorld, type World, type WorldOptions } from '../../support/world.ts';

const REDIRECT = 'http://127.0.0.1:5123/callback';
const UNMET = {
  error: 'unmet_authentication_requirements',
  error_description:
    'the login does not say when the member signed in, as prompt=login, max_age or require_auth_time need',
};

export const now = () => Math.floor(Date.now() / 1000);
const toElsewhere = (location: string) => !location.startsWith(REDIRECT);
const answerOf = ({ location }: Page) =>
  location?.startsWith(REDIRECT) ? Object.fromEntries(new URL(location).searchParams) : undefined;

export const startGate = (overrides: WorldOptions['overrides'], options: Partial<WorldOptions> = {}) =>
  startWorld({ profile: 'A', ...options, overrides: overrides ?? {} });

export type Parameters = Record<string, string>;
type Metadata = Record<string, unknown>;

export const open = async (world: World, browser: Browser, parameters: Parameters = {}, metadata: Metadata = {}) => {
  const app = await registerApp(world.origin, { redirectUri: REDIRECT, metadata: metadata as never });
  const request = await authorizationRequest(app, parameters);
  return { app, request, page: await browser.open(request.url, toElsewhere) };
};

/** When the member signed in, as introspection and the ID token say. */
export const timesOf = async (
  { app, request }: { app: App; request: Awaited<ReturnType<typeof authorizationRequest>> },
  browser: Browser,
  consent: Page,
) => {
  expect(consent.text).toContain('<main id="consent">');
  const last = await browser.submit(consent, { decision: 'approve', scope: offeredScopes(consent) }, toElsewhere);
  const tokens = await redeem(app, request, new URL(last.location ?? ''));
  const { auth_time } = await introspect(app, tokens.access_token);
  return { introspected: auth_time, inIdToken: decodeJwt(String(tokens.id_token)).auth_time };
};
export const UNKNOWN = { introspected: undefined, inIdToken: undefined };

/** The page says so, and the app gets an error when the member goes back. */
export const expectUnmet = async (browser: Browser, page: Page) => {
  expect(page.status).toBe(200);
  expect(page.text).toContain('<main id="unconfirmed">');
  expect(answerOf(await browser.submit(page, { decision: 'deny' }, toElsewhere))).toMatchObject(UNMET);
};

/** Every way in which an app can require to know the time. */
export const DEMANDS: readonly (readonly [string, Parameters, Metadata])[] = [
  ['prompt=login', { prompt: 'login' }, {}],
  ['max_age=600', { max_age: '600' }, {}],
  ['max_age=0', { max_age: '0' }, {}],
  ['default_max_age', {}, { default_max_age: 600 }],
  ['require_auth_time', {}, { require_auth_time: true }],
];
