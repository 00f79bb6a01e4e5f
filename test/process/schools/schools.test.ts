import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../../authorization-server/client-documents/support/document-host.ts';
import { type App, authorizationRequest, bearer, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
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
  let documents: DocumentHost;
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-schools-log-'));
  beforeAll(async () => {
    documents = await startDocumentHost();
    schools = await startSchools({
      documentNetwork: documents.network,
      accessDescriptor: openSync(join(folder, 'access'), 'a'),
      main: { log: { access: true } },
      schools: {
        a: A,
        b: { ...B, aliases: { 'https://www.school.example': 'redirect', 'https://b.example': 'serve' } },
      },
    });
  });
  afterAll(async () => {
    await schools.close();
    await documents.close();
    rmSync(folder, { recursive: true });
  });

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

  it('have one app in common, whose document both know, each by the rules of its profile', async () => {
    const clientId = 'https://apps.example/client.json';
    documents.serve(clientId, answerJson(plainDocument(clientId)));
    const known = async ({ origin }: { readonly origin: string }): Promise<App> => ({
      ...(await registerApp(origin)),
      client: { client_id: clientId },
      redirectUri: 'https://apps.example/callback',
    });
    const [a, b] = [await known(A), await known(B)];
    const unbound = { resource: undefined };
    const refused = await createBrowser().open((await authorizationRequest(a, unbound)).url);
    expect({ status: refused.status, text: refused.text }).toMatchObject({
      status: 400,
      text: expect.stringContaining('invalid_target'),
    });
    const [ofA, ofB] = [await connect(a), await connect(b, { parameters: unbound })];
    const query = async (origin: string, token: string) => {
      const body = JSON.stringify({ query: '{ __typename }' });
      const headers = { ...bearer(token), 'content-type': 'application/json' };
      return (await fetch(`${origin}/account/graphql`, { method: 'POST', headers, body })).status;
    };
    expect(await query(A.origin, ofA.access_token)).toBe(200);
    expect(await query(B.origin, ofB.access_token)).toBe(404);
    const anonymous = async (origin: string) => (await fetch(`${origin}/api/v1/whoami`)).status;
    expect(await anonymous(A.origin)).toBe(401);
    expect(await anonymous(B.origin)).toBe(200);
    expect(await statusOf(B.origin, ofB.access_token)).toBe(200);
    expect(await statusOf(B.origin, ofA.access_token)).toBe(401);
    expect(await statusOf(A.origin, ofB.access_token)).toBe(401);
  });

  it('are named in the lines of the access log', async () => {
    const ask = (host: string) => asked(schools.port, host, '/.well-known/jwks.json?of=this');
    await ask('a.school.example');
    await ask('school.example');
    const lines = () =>
      readFileSync(join(folder, 'access'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('jwks.json'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect
      .poll(() => lines().slice(-2), { timeout: 30_000 })
      .toMatchObject([
        { school: 'a', path: '/.well-known/jwks.json', status: 200 },
        { school: 'b', path: '/.well-known/jwks.json', status: 200 },
      ]);
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

  it('have one exposition of metrics, in which each is explained once, before its series', async () => {
    const text = await (await fetch(`${schools.admin}/metrics`)).text();
    const explained = (how: string) =>
      [...text.matchAll(new RegExp(`^# ${how} (\\S+) `, 'gm'))].map(([, name]) => name);
    expect(explained('HELP')).toEqual(explained('TYPE'));
    expect(new Set(explained('TYPE')).size).toBe(explained('TYPE').length);
    let family = '# TYPE';
    for (const line of text.trimEnd().split('\n')) {
      family = /^# TYPE (\S+)/.exec(line)?.[1] ?? family;
      expect(line.startsWith('#') || line.startsWith(family), line).toBe(true);
    }
    for (const school of ['a', 'b'])
      expect(text).toMatch(new RegExp(`^coursegate_\\w+\\{school="${school}",\\w+="`, 'm'));
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
