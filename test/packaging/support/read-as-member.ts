import { authorizationRequest, bearer, redeem, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { offeredScopes } from '../../support/member.ts';
import type { SchoolConfig } from './school-config.ts';

/**
 * Signs a member in at a gate with the configuration of `writeSchoolConfig`, and asks for two addresses with the token of
 * an app: at the gate for the first, whose status is returned, and as a gateway does for the second.
 */
export async function readAsMember({ origin, decisions, environment }: SchoolConfig, username: string) {
  const app = await registerApp(origin);
  const request = await authorizationRequest(app, { scope: 'openid courses:read' });
  const browser = createBrowser();
  const consent = await browser.submit(await browser.open(request.url), { username, password: 'correct horse' });
  const decision = { decision: 'approve', scope: offeredScopes(consent) };
  const back = await browser.submit(consent, decision, (location) => !location.startsWith(app.redirectUri));
  const { access_token: token } = await redeem(app, request, new URL(back.location ?? ''));
  const { status } = await fetch(`${origin}/api/v1/courses/7`, { headers: bearer(token) });

  const decided = await fetch(`${decisions}/decide/forward-auth`, {
    headers: {
      ...bearer(token),
      'x-coursegate-secret': environment.DECISIONS ?? '',
      'x-forwarded-method': 'GET',
      'x-forwarded-host': new URL(origin).host,
      'x-forwarded-uri': '/shop/1',
    },
  });
  return { status, decided: { status: decided.status, member: decided.headers.get('x-member-id') } };
}
