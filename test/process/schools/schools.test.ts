import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../../support/app.ts';
import { connect, statusOf } from '../../support/connection.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

const A = { profile: 'A', origin: 'https://a.school.example', name: 'School A' };
const B = { profile: 'B', origin: 'https://school.example', name: 'School B', account: { enabled: false } };

/** A request with this Host, whatever else is sent. */
async function asked(port: number, host: string, path = '/', headers: Record<string, string> = {}) {
  const request = http.request({ port, host: '127.0.0.1', path, headers: { host, ...headers }, agent: false });
  request.end();
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, text };
}

describe('many schools in one process', () => {
  let schools: Schools;
  beforeAll(async () => {
    schools = await startSchools({
      schools: {
        a: A,
        b: { ...B, aliases: { 'https://www.school.example': 'redirect', 'https://b.example': 'serve' } },
      },
    });
  });
  afterAll(() => schools.close());

  it('are each served at their own host, by their own profile', async () => {
    const [a, b] = await Promise.all([registerApp(A.origin), registerApp(B.origin)]);
    expect([a.resource, b.resource]).toEqual([A.origin, B.origin]);
    expect([a.server.issuer, b.server.issuer]).toEqual([A.origin, B.origin]);
    const [ofA, ofB] = [await connect(a), await connect(b)];
    expect(await statusOf(A.origin, ofA.access_token)).toBe(200);
    expect(await statusOf(B.origin, ofB.access_token)).toBe(200);
    expect(await statusOf(B.origin, ofA.access_token)).toBe(401);
    expect(await statusOf(A.origin, ofB.access_token)).toBe(401);
  });

  it('answer 421 and nothing else for any other host', async () => {
    for (const host of ['nothing.example', 'a.school.example.', 'a.school.example:8080', 'x.a.school.example', '']) {
      const answer = await asked(schools.port, host, '/.well-known/oauth-protected-resource', {
        'x-forwarded-host': 'a.school.example',
      });
      expect(answer).toMatchObject({ status: 421, text: '421 Misdirected Request\n' });
      expect(Object.keys(answer.headers).toSorted()).toEqual(
        ['cache-control', 'connection', 'content-type', 'date', 'transfer-encoding'].toSorted(),
      );
    }
    expect((await asked(schools.port, 'A.School.Example:443', '/.well-known/oauth-protected-resource')).status).toBe(
      200,
    );
    const metrics = await (await fetch(`${schools.admin}/metrics`)).text();
    expect(metrics).toMatch(/^coursegate_misdirected_requests_total 5$/m);
    expect(metrics).toMatch(/^coursegate_signing_key_age_seconds\{school="a"\} /m);
  });

  it('redirect from an alias, or serve it as a resource of its own', async () => {
    const answer = await asked(schools.port, 'www.school.example', '/api/v1/whoami?x=1');
    expect(answer).toMatchObject({ status: 308, headers: { location: 'https://school.example/api/v1/whoami?x=1' } });
    const app = await registerApp('https://b.example');
    expect(app.resource).toBe('https://b.example');
    const { access_token } = await connect(app);
    expect(await statusOf('https://b.example', access_token)).toBe(200);
    expect(await statusOf(B.origin, access_token)).toBe(401);
  });
});
