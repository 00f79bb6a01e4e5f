import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { startGateway } from '../../src/process/gateway.ts';
import { load } from '../config/fixture.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';

const PAGE = readFileSync(new URL('../../docs/quickstart.md', import.meta.url), 'utf8');
const [, SECTION = ''] = PAGE.split('\n## A JSON API on one host, a single-page app on another\n');
const [, CONFIGURATION = ''] = /^```yaml\n(.*?)^```$/ms.exec(SECTION) ?? [];
const API_KEY = 'the-key-of-the-api';
const TOKEN = 'a-token-of-the-api';

/** An API for a single-page app: its sign-in takes JSON and returns a token, and it sets no cookie. */
const startApi = () =>
  startRecordingUpstream(async (request, response, recorded) => {
    await recorded.whole;
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { authorization, 'x-api-key': key } = request.headers;
    switch (`${request.method} ${request.url}`) {
      case 'POST /auth/login': {
        const { email, password } = JSON.parse(recorded.body.toString()) as Record<string, unknown>;
        const right = email === 'sam@school.test' && password === 'right';
        return void (right
          ? answer(200, { access_token: TOKEN })
          : answer(401, { detail: 'Incorrect email or password' }));
      }
      case 'GET /users/me':
        if (authorization !== `Bearer ${TOKEN}`) return void answer(401, { detail: 'Not authenticated' });
        return void answer(200, { id: 7, email: 'sam@school.test', name: 'Sam Student' });
      case 'GET /users/7/courses':
        return void (key === API_KEY ? answer(200, [{ slug: 'rowing' }]) : answer(401, {}));
      default:
        return void answer(404, { detail: 'Not Found' });
    }
  });

it('docs/quickstart.md has a configuration for an API and a single-page app on two hosts that works', async () => {
  const api = await startApi();
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const text = CONFIGURATION.replace('https://api.school.example', origin)
    .replace('http://127.0.0.1:8000', api.url)
    .replace('kind: sqlite, path: data/coursegate.db', 'kind: memory');
  const loaded = await load(text, { environment: { API_KEY, PORT: String(port), ADMIN_PORT: '0' } });
  const gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
  try {
    const app = await registerApp(origin);
    const request = await authorizationRequest(app, { scope: 'courses:read' });
    const browser = createBrowser();
    const refused = await browser.submit(await browser.open(request.url), {
      username: 'sam@school.test',
      password: 'wrong',
    });
    expect(refused.text).toContain('Wrong username or password');
    const consent = await browser.submit(refused, { username: 'sam@school.test', password: 'right' });
    const fields = { decision: 'approve', scope: ['courses:read'] };
    const last = await browser.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    const { access_token } = await redeem(app, request, new URL(last.location ?? ''));
    const courses = await fetch(`${origin}/apps/my/courses`, { headers: { authorization: `Bearer ${access_token}` } });
    expect([courses.status, await courses.json()]).toEqual([200, [{ slug: 'rowing' }]]);
    expect(api.last().target).toBe('/users/7/courses');
  } finally {
    await gate.close(0);
    await api.close();
  }
});
