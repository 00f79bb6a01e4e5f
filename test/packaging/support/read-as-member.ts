import { extAuthzClient } from '../../decisions/support/ext-authz-client.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { offeredScopes } from '../../support/member.ts';
import type { SchoolConfig } from './school-config.ts';

/**
 * Signs a member in at a gate with the configuration of `writeSchoolConfig`, and asks for two addresses with the token of
 * an app: over HTTP for the first, whose status is returned, and over gRPC for the second, where the gate decides.
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

  const client = extAuthzClient(decisions);
  const { host } = new URL(origin);
  const fields = { ':authority': host, ':path': '/shop/1', ':method': 'GET', authorization: `Bearer ${token}` };
  const headers = Object.entries(fields).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  const http = { method: 'GET', path: '/shop/1', host, header_map: { headers } };
  const source = { address: { socket_address: { address: '203.0.113.7' } } };
  const secret = { 'x-coursegate-secret': environment.DECISIONS ?? '' };
  const decided = await client.check({ attributes: { source, request: { http } } }, secret);
  client.close();
  const member = decided.ok_response?.headers.find(({ header }) => header.key === 'x-member-id');
  return { status, decided: { code: decided.status.code, member: member?.header.value } };
}
